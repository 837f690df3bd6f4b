"""A page that has lost its server says what to do, and goes on once the server answers again."""

from __future__ import annotations

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.helpers import open_page

STREAM, ASKED = "**/_stcore/stream", "**/_stcore/h*"


def test_a_page_whose_server_is_gone_says_how_to_start_it_and_connects_again(
    page: Page, app_url: str
) -> None:
    opened: list[WebSocketRoute] = []

    def connect(tab: WebSocketRoute) -> None:
        opened.append(tab)
        tab.connect_to_server()

    page.route_web_socket(STREAM, connect)
    open_page(page, app_url)
    page.route(ASKED, lambda route: route.abort())
    for tab in opened:
        tab.close()
    lost = page.get_by_role("dialog", name="Connection error")
    expect(lost).to_contain_text("The server on this computer does not answer.")
    expect(lost.get_by_text("internet")).to_be_hidden()
    page.unroute(ASKED)
    expect(lost).to_be_hidden()
