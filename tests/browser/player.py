"""Read and control the merge player in browser tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from bpe_core.trainers import TrainingRun
from bpe_core.views import (
    PlayedRun,
)
from tests.browser.helpers import font_data, open_page
from ui.merge_loop.player_run import replay_page


def saved_replay(run: TrainingRun, folder: Path, title: str, text: str = "") -> str:
    """Return the address of a replay written to disk."""
    n_merges = len(run.merges)
    message = PlayedRun(run, "p").pack(opening=0, starts=[0])
    merges = PlayedRun(run, "p").pack_merges(0, n_merges)
    file = folder / "replay.html"
    words = PlayedRun(run, "p").words(text)
    page = replay_page(message, merges, title=title, text=text, words=words)
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


@dataclass(frozen=True, slots=True)
class Player:
    """The player on an open Merge loop page."""

    page: Page

    @classmethod
    def open(cls, page: Page, address: str) -> Player:
        open_page(page, address)
        return cls._filled(page)

    @classmethod
    def on(cls, page: Page, file: str) -> Player:
        """Return the player of a saved replay."""
        page.goto(file)
        return cls._filled(page)

    @classmethod
    def _filled(cls, page: Page) -> Player:
        expect(page.locator(".player .position b")).not_to_be_empty()
        return cls(page)

    def press(self, act: str) -> None:
        self.page.locator(f".player [data-act={act}]").click()

    def expect_step(self, step: int) -> None:
        expect(self.page.locator(".player .position b")).to_have_text(f"{step:,}")

    def expect_merges(self) -> None:
        """Wait until the merges at the cursor have arrived from the server."""
        expect(self.page.locator(".player:not(.fetching)")).to_be_attached()

    def expect_playing(self, playing: bool) -> None:
        label = "Pause" if playing else "Play"
        expect(self.page.locator(".player [data-act=play] span")).to_have_text(label)

    def choose(self, value: str) -> None:
        self.page.locator(f'.player label:has(input[value="{value}"])').click()

    def go_to(self, wanted: str) -> None:
        field = self.page.locator(".player .jump input")
        field.fill(wanted)
        field.press("Enter")

    def expect_sentence(self, text: str) -> None:
        expect(self.page.locator(".player .sentence")).to_contain_text(text)

    def words(self) -> list[list[int]]:
        """Return the ids of each word's tiles, as drawn."""
        return self.page.locator(".player .words").evaluate(
            """list => [...list.querySelectorAll(".word")].map(
                 word => [...word.querySelectorAll(".tile")].map(
                     tile => Number(tile.dataset.id)))"""
        )

    def use_wide_fonts(self) -> None:
        """Draw the page in a font with letters as wide as those of any system font."""
        self.page.evaluate(
            """async (data) => {
                 const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0)).buffer;
                 for (const family of ["Source Sans", "Source Serif", "Source Code Pro"]) {
                   const font = new FontFace(family, bytes, { weight: "200 900" });
                   document.fonts.add(await font.load());
                 }
               }""",
            font_data("SourceCodeVF-Upright.ttf"),
        )

    def words_across(self) -> list[list[float]]:
        """Return the left edges of the tiles of each word on one line, in the order of the word."""
        return self.tiles_across(".words .word")

    def tiles_across(self, of: str) -> list[list[float]]:
        """Return the left edges of the tiles in elements of the player whose tiles are level."""
        return self.page.locator(".player").evaluate(
            """(root, of) => [...root.querySelectorAll(of)]
                 .map(word => [...word.querySelectorAll(".tile")])
                 .map(tiles => tiles.map(tile => tile.getBoundingClientRect()))
                 .filter(boxes => boxes.every(box => Math.abs(box.bottom - boxes[0].bottom) < 4))
                 .map(boxes => boxes.map(({ left }) => left))""",
            of,
        )

    def shared_characters(self) -> list[tuple[str, str]]:
        """Return each character above the words' bytes, and the bytes in its frame, in hex."""
        found = self.page.locator(".player .words").evaluate(
            """list => [...list.querySelectorAll(".word")].flatMap(word => {
                 const bytes = [...word.querySelectorAll(".byte")];
                 const is = (i, edge) => bytes[i].classList.contains(edge);
                 return [...bytes.keys()].filter(i => is(i, "first")).map(from => {
                   const to = [...bytes.keys()].find(i => i >= from && is(i, "last"));
                   const framed = bytes.slice(from, to + 1);
                   return [framed.flatMap(b => [...b.querySelectorAll(".character")])
                             .map(c => c.textContent).join(""),
                           framed.map(b => b.firstChild.textContent).join("")];
                 });
               })"""
        )
        return [(shown, framed) for shown, framed in found]

    def ringed(self) -> list[list[int]]:
        """Return the ids in each ring."""
        return self.page.locator(".player .words").evaluate(
            """list => [...list.querySelectorAll(".pair")].map(
                 pair => [...pair.children].map(tile => Number(tile.dataset.id)))"""
        )

    def race(self) -> list[tuple[int, int, int]]:
        """Return the left id, right id and count of each row, in order of rank."""
        rows = self.page.locator(".player .race").evaluate(
            """list => [...list.querySelectorAll("li:not(.leaving)")]
                 .sort((a, b) => a.dataset.place - b.dataset.place)
                 .map(row => [...row.id.split("-").slice(1),
                              row.querySelector(".number").textContent.replaceAll(",", "")])"""
        )
        return [(int(left), int(right), int(count)) for left, right, count in rows]

    def toggle_guessing(self) -> None:
        self.page.locator(".player .guess").click()

    def guess(self, pair: str) -> None:
        """Guess a pair of the list by its spoken name, such as "u, g"."""
        self.page.get_by_role("button", name=pair, exact=True).click()

    def expect_verdict(self, text: str) -> None:
        expect(self.page.locator(".player .verdict [role=status]")).to_have_text(text)

    def expect_score(self, text: str) -> None:
        expect(self.page.locator(".player .score")).to_have_text(text)

    def time_scrub(self, step: int) -> float:
        """Return the milliseconds from a scrub to the frame that shows its step completely."""
        return self.page.locator(".player").evaluate(
            """async (root, step) => {
                 const scrub = root.querySelector(".scrub");
                 const begin = performance.now();
                 scrub.value = step;
                 scrub.dispatchEvent(new Event("input"));
                 do await new Promise(requestAnimationFrame);
                 while (root.classList.contains("fetching"));
                 return Math.round(performance.now() - begin);
               }""",
            step,
        )

    def frames_while_playing(self, n_frames: int) -> list[float]:
        """Return the milliseconds between consecutive frames while merges play."""
        return self.page.locator(".player").evaluate(
            """async (root, n) => {
                 root.querySelector("[data-act=play]").click();
                 const frames = [];
                 let before = await new Promise(requestAnimationFrame);
                 while (frames.length < n) {
                   const now = await new Promise(requestAnimationFrame);
                   frames.push(now - before);
                   before = now;
                 }
                 root.querySelector("[data-act=play]").click();
                 return frames;
               }""",
            n_frames,
        )

    def count_while_playing(self, n_sentences: int) -> dict[str, float]:
        """Play until the sentence has changed `n_sentences` times, then pause.

        Return the frames, merges and animations of that time, and the shortest time in milliseconds
        for which a sentence was shown.
        """
        return self.page.locator(".player").evaluate(
            """async (root, n) => {
                 let animations = 0;
                 const animate = Element.prototype.animate;
                 Element.prototype.animate = function (...how) {
                   animations++;
                   return animate.apply(this, how);
                 };
                 const step = () =>
                   Number(root.querySelector(".position b").textContent.replaceAll(",", ""));
                 const sentence = root.querySelector(".sentence");
                 const play = root.querySelector("[data-act=play]");
                 const from = step();
                 play.click();
                 const changes = [];
                 let frames = 0;
                 let said = sentence.textContent;
                 while (changes.length < n) {
                   const now = await new Promise(requestAnimationFrame);
                   frames++;
                   if (sentence.textContent !== said) changes.push(now);
                   said = sentence.textContent;
                 }
                 play.click();
                 Element.prototype.animate = animate;
                 const stood = changes.slice(1).map((at, i) => at - changes[i]);
                 return { frames, merges: step() - from, animations,
                          least_between_sentences: Math.min(...stood) };
               }""",
            n_sentences,
        )
