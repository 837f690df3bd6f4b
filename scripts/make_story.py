"""Write ui/components/story/story.json: what the start page's scenes draw beyond a sentence.

`.venv/bin/python -m scripts.make_story TINY_SHAKESPEARE` takes the file of that name, which many
courses train on (1,115,394 bytes): the first bytes are learned from, and those in its middle are
the text that was never seen.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

N_SEEN: Final = 1_800
N_UNSEEN: Final = 400
SENTENCES: Final = (
    ("English", "en", "my name my home my village my country"),
    ("Hindi", "hi", "मेरा नाम मेरा घर मेरा गाँव मेरा देश"),
    ("Turkish", "tr", "benim adım benim evim benim köyüm benim ülkem"),
    ("Thai", "th", "ชื่อของฉัน บ้านของฉัน หมู่บ้านของฉัน ประเทศของฉัน"),
    ("Chinese", "zh", "我的名字我的家我的村庄我的国家"),
)
OUT: Final = Path(__file__).parents[1] / "ui" / "components" / "story" / "story.json"


def main() -> None:
    whole = Path(sys.argv[1]).read_bytes()
    middle = len(whole) // 2
    story = {
        "seen": whole[:N_SEEN].decode(),
        "unseen": whole[middle : middle + N_UNSEEN].decode(),
        "languages": [{"name": name, "lang": lang, "text": text} for name, lang, text in SENTENCES],
    }
    OUT.write_text(json.dumps(story, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
