"""Film the README's moving picture, and take the still that stands in for it, in both themes.

    .venv/bin/python -m scripts.make_readme_pictures

A saved replay of a small run is played in the browser that `make test` finds or installs. Time is
simulated and advances by one frame for each picture, so the film is smooth on a slow machine too.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, ViewportSize, sync_playwright

import bpe_core as bpe
from bpe_core.corpus import load_sample
from tests.browser.helpers import font_data
from tests.browser.player import Player, saved_replay
from tests.browser.serving import launch_browser

ROOT: Final = Path(__file__).parent.parent
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
MAX_BYTES: Final = 1_500_000
WIDTH: Final = 1720  # pixels: twice the width of a README
FRAME_MS: Final = 33
MERGES_AT_SPEED_1: Final = 5
FIRST_MS, LAST_MS = 600, 2_000  # how long the first and the last picture are shown

# Narrow enough for legible letters, and just wide enough for the race to stand next to the words.
VIEWPORT: Final[ViewportSize] = {"width": 1040, "height": 700}
PAGE_STYLE: Final = "body { padding: 20px 26px } h1, h1 + p { display: none }"
# Without what nobody uses in a film, the sentence about the merge stays on one line.
PLAYER_STYLE: Final = ".aside, [data-act=full] { display: none !important }"
FONTS: Final = {
    "Source Sans": "SourceSansVF-Upright.ttf",
    "Source Serif": "SourceSerifVariable-Roman.ttf",
    "Source Code Pro": "SourceCodeVF-Upright.ttf",
}
ADD_PLAYER_STYLE: Final = """(css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.querySelector("#player").shadowRoot.adoptedStyleSheets = [sheet];
}"""
LOAD_FONT: Final = """async ([family, data]) => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0)).buffer;
  document.fonts.add(await new FontFace(family, bytes, { weight: "200 900" }).load());
}"""
# Playwright's clock simulates timers and frames, but not animations, which are moved by hand.
ADVANCE_ANIMATIONS: Final = """(ms) => {
  const root = document.querySelector("#player").shadowRoot;
  for (const animation of root.getAnimations()) {
    if (animation.playState === "running") {
      animation.pause();
      animation.shownAt = 0;
    }
    animation.shownAt += ms;
    if (animation.shownAt < animation.effect.getComputedTiming().endTime) {
      animation.currentTime = animation.shownAt;
    } else {
      animation.finish();
    }
  }
}"""


def main() -> None:
    run = bpe.train(load_sample("alice"), vocab_size=420)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        replay = saved_replay(run, Path(folder), "Alice’s Adventures in Wonderland")
        # Letters at their exact places: with hinting they are moved to whole pixels, and a picture
        # that is shown at half its size has uneven gaps.
        browser = launch_browser(playwright, "--font-render-hinting=none")
        for theme in THEMES:
            pictures = film(browser, replay, theme, len(run.merges))
            still = ROOT / "docs" / f"merge-loop-{theme}.webp"
            moving = ROOT / "docs" / f"merge-loop-moving-{theme}.webp"
            pictures[len(pictures) // 2].save(still, lossless=True, method=6)
            save_film(pictures, moving)
            for file in (still, moving):
                print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
        browser.close()


def film(
    browser: Browser, replay: str, theme: Literal["light", "dark"], n_merges: int
) -> list[Image.Image]:
    """Return a picture of each frame while the first merges are played, then all others faster."""
    page = browser.new_page(
        viewport=VIEWPORT,
        device_scale_factor=WIDTH / VIEWPORT["width"],
        color_scheme=theme,
        bypass_csp=True,
    )
    page.clock.install(time=0)
    player = Player.on(page, replay)
    page.add_style_tag(content=PAGE_STYLE)
    page.evaluate(ADD_PLAYER_STYLE, PLAYER_STYLE)
    for family, file in FONTS.items():
        page.evaluate(LOAD_FONT, [family, font_data(file)])
    page.clock.pause_at(60_000)
    player.choose("frequent")
    advance(page)
    area = measure_area(page)
    pictures = [take(page, area)]
    player.press("play")
    while (done := count_merges(page)) < n_merges:
        advance(page)
        pictures.append(take(page, area))
        if done < MERGES_AT_SPEED_1 <= count_merges(page):
            player.choose("max")
    advance(page)
    pictures.append(take(page, area))
    page.close()
    return pictures


def advance(page: Page) -> None:
    """Let one frame's time pass for timers and for animations."""
    page.clock.run_for(FRAME_MS)
    page.evaluate(ADVANCE_ANIMATIONS, FRAME_MS)


def count_merges(page: Page) -> int:
    return int(page.locator(".player .position b").inner_text())


def measure_area(page: Page) -> FloatRect:
    """Return the area of the controls, the words and the race, in CSS pixels."""
    top = page.locator(".player .controls").bounding_box()
    bottom = page.locator(".player .words-part .note").bounding_box()
    assert top
    assert bottom
    height = bottom["y"] - top["y"] + 20
    return {"x": 0, "y": top["y"] - 20, "width": VIEWPORT["width"], "height": height}


def take(page: Page, area: FloatRect) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(clip=area))).convert("RGB")


def save_film(pictures: list[Image.Image], file: Path) -> None:
    """Write pictures as a looping WebP; raises ValueError if it is too large for a README."""
    durations = [FIRST_MS, *[FRAME_MS] * (len(pictures) - 2), LAST_MS]
    pictures[0].save(
        file,
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=80,
        method=4,
        allow_mixed=True,
        minimize_size=True,
    )
    if (size := file.stat().st_size) > MAX_BYTES:
        raise ValueError(f"{file.name} has {size:,} bytes; the limit is {MAX_BYTES:,}.")


if __name__ == "__main__":
    main()
