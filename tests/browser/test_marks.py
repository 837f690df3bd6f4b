"""Tokens as another library's file writes them: ▁, ##, bytes, and a mark of no text."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.token_view import show_tokens
from tests.foreign_models import byte_fallback, described, library_encoder, word_piece

SWITCH = "As its file writes tokens"


def shown(pane: Locator) -> list[str]:
    """Return what is drawn for each token, by style or as text."""
    return pane.evaluate(
        """(pane) => [...pane.querySelectorAll(".token")].map((token) => {
            const before = getComputedStyle(token, "::before").content;
            return before === "none" ? token.textContent : JSON.parse(before);
        })"""
    )


def test_a_file_with_bytes_is_spelled_with_its_marks(page: Page, tmp_path: Path) -> None:
    encoder = library_encoder(described(byte_fallback()))
    text = "ab a日"
    pane = show_tokens(page, tmp_path, text, encoder)
    assert shown(pane) == ["ab", " a", "E6", "97", "A5"]
    page.get_by_role("switch", name=SWITCH).click()
    written = [encoder.written(id) for id in encoder.encode(text)]
    assert shown(pane) == written
    assert "<0xE6>" in written
    assert pane.evaluate("(pane) => pane.textContent") == text
    expect(page.locator(".remarks")).to_contain_text("▁ stands for a space. <0x…> is one byte")

    pane = show_tokens(page, tmp_path, "日", encoder)
    assert shown(pane) == ["▁", "E6", "97", "A5"]
    pane.locator(".token.marker").hover()
    expect(page.locator(".details")).to_contain_text("it stands for nothing in your text")


def test_a_continued_word_is_spelled_in_small_letters_with_its_mark(
    page: Page, tmp_path: Path
) -> None:
    encoder = library_encoder(described(word_piece()))
    text = "Unbelievably naïve"
    pane = show_tokens(page, tmp_path, text, encoder)
    assert "".join(shown(pane)) == text
    page.get_by_role("switch", name=SWITCH).click()
    written = [encoder.written(id) for id in encoder.encode(text)]
    assert [token for token in shown(pane) if token != " "] == written
    assert any(token.startswith("##") for token in written if token)
    pane.locator(".token[data-written^='##']").first.hover()
    expect(page.locator(".details")).to_contain_text("## means that the word continues")
