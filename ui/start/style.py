"""The style of the start page: one narrow column under a large heading."""

from __future__ import annotations

import streamlit as st

_STYLE = """<style>
.st-key-start_page { max-width: 1040px; margin: 0 auto; padding-top: 1rem; gap: 1.5rem; }
.st-key-start_page h1 { font-size: 48px; line-height: 1.15; padding-bottom: 0; }
.st-key-start_page > [data-testid="stElementContainer"] [data-testid="stMarkdown"] p {
  max-width: 47em;
  font-size: 20px;
}
[class*="st-key-door_"] {
  position: relative;
  border-top: 3px solid light-dark(#1d5b8f, #7ab8ee);
  padding: 0.75rem 2px 0;
}
[class*="st-key-door_"] a { padding-left: 0; background: none; }
[class*="st-key-door_"] a p { color: light-dark(#1d5b8f, #7ab8ee); font-size: 16px; }
/* All of a door opens it. */
[class*="st-key-door_"] a::after { content: ""; position: absolute; inset: 0; }
[class*="st-key-door_"]:hover a p { text-decoration: underline; }
[class*="st-key-door_"]:has(a:focus-visible) {
  outline: 2px solid light-dark(#1d5b8f, #7ab8ee);
  outline-offset: 4px;
}
@media (max-width: 640px) {
  .st-key-start_page { padding-top: 0; }
  .st-key-start_page h1 { font-size: 34px; }
  .st-key-start_page > [data-testid="stElementContainer"] [data-testid="stMarkdown"] p {
    font-size: 17px;
  }
}
</style>"""


def style_page() -> None:
    """Set the sizes of the page's parts."""
    st.html(_STYLE)
