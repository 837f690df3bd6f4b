"""Draw ui/data/favicon.png: two symbols that have fused into one token."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

TARGET = Path(__file__).parent.parent / "ui" / "data" / "favicon.png"
SIZE = 64
OVERSAMPLING = 8
PAPER, INK, TOKEN, CHOSEN = "#fdfcfa", "#211e1a", "#b2b8f7", "#ad3407"


def main() -> None:
    scale = OVERSAMPLING
    image = Image.new("RGBA", (SIZE * scale, SIZE * scale), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)

    def box(left: int, top: int, right: int, bottom: int, fill: str, edge: str, width: int) -> None:
        corners = (left * scale, top * scale, right * scale, bottom * scale)
        draw.rounded_rectangle(corners, 9 * scale, fill=fill, outline=edge, width=width * scale)

    box(2, 4, 31, 26, PAPER, INK, 3)
    box(33, 4, 62, 26, PAPER, INK, 3)
    box(2, 33, 62, 60, TOKEN, CHOSEN, 4)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    image.resize((SIZE, SIZE), Image.Resampling.LANCZOS).save(TARGET, optimize=True)
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
