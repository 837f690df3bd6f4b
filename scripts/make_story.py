"""Write ui/components/story/story.json: what the start page's scenes draw beyond a sentence.

`.venv/bin/python -m scripts.make_story TINY_SHAKESPEARE` takes the file of that name, which many
courses train on (1,115,394 bytes): the first bytes are learned from, and those in its middle are
the text that was never seen. GPT-4o's tokens must have been fetched (`bpe fetch gpt4o`).
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bpe_core import open_encoder
from bpe_core.tokenizer import gpt2
from ui.tokenizers import read_as

N_SEEN: Final = 1_800
N_UNSEEN: Final = 400
SENTENCES: Final = (
    ("English", "en", "my name my home my village my country"),
    ("Hindi", "hi", "मेरा नाम मेरा घर मेरा गाँव मेरा देश"),
    ("Turkish", "tr", "benim adım benim evim benim köyüm benim ülkem"),
    ("Thai", "th", "ชื่อของฉัน บ้านของฉัน หมู่บ้านของฉัน ประเทศของฉัน"),
    ("Chinese", "zh", "我的名字我的家我的村庄我的国家"),
)
READ: Final = {
    "sentence": "how much wood would a woodchuck chuck if a woodchuck could chuck wood",
    "letters": "How many r's in strawberry?",
    "sum": "1234 + 999 = 2233",
}
PRICES: Final = (
    ("English", "en", "One kilo of rice costs 60 rupees."),
    ("Hindi", "hi", "एक किलो चावल की कीमत 60 रुपये है।"),
)
OUT: Final = Path(__file__).parents[1] / "ui" / "components" / "story" / "story.json"


def main() -> None:
    whole = Path(sys.argv[1]).read_bytes()
    middle = len(whole) // 2
    models = {"GPT-2": gpt2(), "GPT-4o": open_encoder("o200k_base")}
    prices = [
        {"name": name, "lang": lang, "text": text}
        | {model: len(encoder.encode(text)) for model, encoder in models.items()}
        for name, lang, text in PRICES
    ]
    story = {
        "readings": {
            name: asdict(read_as("GPT-4o", models["GPT-4o"], text)) for name, text in READ.items()
        },
        "prices": prices,
        "seen": whole[:N_SEEN].decode(),
        "unseen": whole[middle : middle + N_UNSEEN].decode(),
        "languages": [{"name": name, "lang": lang, "text": text} for name, lang, text in SENTENCES],
    }
    OUT.write_text(json.dumps(story, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
