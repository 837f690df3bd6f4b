"""Take the README's pictures: the merge loop of the sample run, in both themes.

    .venv/bin/python -m scripts.make_readme_pictures

Needs the browser that `make test` finds or installs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from tests.browser.helpers import open_page
from tests.browser.serving import launch_browser, new_context, running_app

ROOT = Path(__file__).parent.parent
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as runs,
        running_app(Path(runs)) as url,
        sync_playwright() as playwright,
    ):
        browser = launch_browser(playwright)
        for theme in THEMES:
            page = new_context(
                browser,
                viewport={"width": 1440, "height": 1124},
                color_scheme=theme,
                reduced_motion="reduce",
            ).new_page()
            open_page(page, f"{url}/merge_loop")
            page.locator(".player:not(.fetching) .gave li").first.wait_for()
            file = ROOT / "docs" / f"merge-loop-{theme}.png"
            page.screenshot(path=file)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
