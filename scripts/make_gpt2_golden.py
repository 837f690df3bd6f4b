"""Write bpe_core/data/gpt2_golden.json: texts and their GPT-2 ids, on which two oracles agree.

The ids come from tiktoken, fed with OpenAI's own encoder.json, and are kept only if Hugging Face's
tokenizers gives the same. bpe_core's encoder is not used.

    python -m scripts.make_gpt2_golden
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from tests.oracles import tiktoken_gpt2, tokenizers_gpt2

TARGET = Path(__file__).parents[1] / "bpe_core" / "data" / "gpt2_golden.json"

TEXTS: dict[str, tuple[str, ...]] = {
    "English and code": (
        "The quick brown fox",
        "To be or not to be",
        "The quick brown fox jumps over the lazy dog.",
        "hello",
        " hello",
        "Hello, world!",
        "I'm sure they'll say it's what we've done, you'd see; they're right, don't you think?",
        "I'M SURE THEY'LL SAY IT'S WHAT WE'VE DONE",
        "'stuff' and ''s and 's and ' s and 'll'll",
        "antidisestablishmentarianism",
        "Supercalifragilisticexpialidocious",
        "3.14159265358979 1,000,000 0x1F 2024-01-31 H2O x2y3",
        "user@example.com https://example.com/a?b=c&d=%20#e",
        "def f(x):\n    return {'a': [x, 1], \"b\": None}\n",
        '<div class="a">1 < 2 && 3 > 2</div>',
        "</script><script>alert(1)</script>",
        "| a | b |\n|---|---|\n| **x** | $y^2$ |",
        "a,b;c:d.e!f?g(h)i[j]k{l}m<n>o/p\\q|r`s~t@u#v$w%x^y&z*",
        "SolidGoldMagikarp",
    ),
    "White space": (
        "a b  c   d    e",
        "   leading",
        "trailing   ",
        "   ",
        " ",
        "\n",
        "\n\n",
        "\r\n\r\n",
        "a\nb\r\nc\rd",
        "\ttab\t\ttabs",
        "a \n b",
        "a\x0bb\x0cc",
        "no\xa0break\u202fspaces\u2003here\u3000too",
        "next\x85line\u2028line\u2029paragraph",
        "\x1c\x1d\x1e\x1f are no white space here",
    ),
    "Control characters": (
        "\x00",
        "a\x00b\x00",
        "\x7f\x80\x9f",
        "\ufeffhello world",
        "zero\u200bwidth\u200cjoiners\u200d",
        "soft\xadhyphen",
        "\ufffd\ufffe\uffff",
        "\U0010ffff",
        "\ue000\uf8ff",
        "\u202eright to left\u202c",
    ),
    "Runs": (
        "a" * 100,
        "aaab",
        "=" * 64,
        "ab" * 40,
        "-" * 17 + ">" * 9,
        "0" * 33,
        "." * 10 + "…" * 3,
    ),
    "Special tokens as text": (
        "<|endoftext|>",
        "a<|endoftext|>b",
        "<|endoftext",
    ),
    "Latin beyond ASCII": (
        "café naïve façade Straße ſmall ŉ",
        "cafe\u0301 nai\u0308ve",
        "Zażółć gęślą jaźń",
        "Příliš žluťoučký kůň úpěl ďábelské ódy",
        "Đây là tiếng Việt",
        "ǅ Ǆ ǆ ʰ ª º",
        "Ã© â€™ ï»¿",
    ),
    "Other scripts": (
        "Съешь же ещё этих мягких французских булок",
        "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
        "שלום עולם, נִקּוּד",
        "السلام عليكم ١٢٣",
        "नमस्ते दुनिया १२३",
        "สวัสดีชาวโลก",
        "你好,世界。",
        "こんにちは世界、カタカナ",
        "안녕하세요 세계",
        "வணக்கம் உலகம்",
        "გამარჯობა მსოფლიო",
        "Բարեւ աշխարհ",
        "ሰላም ልዑል",
        "བཀྲ་ཤིས་བདེ་ལེགས།",
        "សួស្តី​ពិភពលោក",
        "𐌰𐌱𐌲 𒀀𒀁 𓀀𓀁",
    ),
    "Numbers and signs": (
        "½ ² ³ Ⅷ ① ৳ ๙ 五",
        "∑∫√∞ ≠ ≤ ∀x∈ℝ",
        "€£¥₿ ™©® †‡",
    ),
    "Emoji": (
        "🙂",
        "👩‍👩‍👧‍👦 family",
        "👍🏽 🇩🇪🇫🇷 1️⃣ ❤️",
        "text🙂text 🙂🙂",
        "Z͑ͫ̓ͪ̂ͫa̴̧l̷g̵o̶",
        "𝕳𝖊𝖑𝖑𝖔 ｆｕｌｌ ﬁ",
        "mixed: abc кот 猫 🐱 123",
        "",
    ),
}

# Ids that tiktoken's own tests publish: tests/test_encoding.py in its repository, test_simple and
# test_simple_repeated.
PUBLISHED = {
    "hello world": [31373, 995],
    "0": [15],
    "00": [405],
    "000": [830],
    "0000": [2388],
    "00000": [20483],
    "000000": [10535],
    "0000000": [24598],
    "00000000": [8269],
    "000000000": [10535, 830],
    "0000000000": [8269, 405],
    "00000000000": [8269, 830],
    "000000000000": [8269, 2388],
    "0000000000000": [8269, 20483],
    "00000000000000": [8269, 10535],
    "000000000000000": [8269, 24598],
    "0000000000000000": [25645],
    "00000000000000000": [8269, 10535, 830],
}


def main() -> None:
    ours, theirs = tiktoken_gpt2(), tokenizers_gpt2()
    agreed = (
        f"ids by tiktoken {version('tiktoken')} from OpenAI's encoder.json, the same by "
        f"tokenizers {version('tokenizers')} from encoder.json and vocab.bpe"
    )
    published = "published in tiktoken's tests, tests/test_encoding.py; " + agreed
    cases = [
        {"group": group, "text": text, "ids": ours.encode_ordinary(text), "provenance": 0}
        for group, texts in TEXTS.items()
        for text in texts
    ]
    for text, ids in PUBLISHED.items():
        if ours.encode_ordinary(text) != ids:
            raise SystemExit(f"tiktoken does not give what its tests publish for {text!r}")
        cases.append({"group": "Published ids", "text": text, "ids": ids, "provenance": 1})
    # tokenizers treats <|endoftext|> as ordinary text because it was not added as a special token.
    differing = [case["text"] for case in cases if theirs.encode(case["text"]).ids != case["ids"]]
    if differing:
        raise SystemExit(f"tiktoken and tokenizers differ on {differing}")
    # One case per line, so that a diff shows each changed case.
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    provenances = json.dumps([agreed, published])
    written_by = json.dumps("scripts/make_gpt2_golden.py")
    TARGET.write_text(
        f'{{\n "written_by": {written_by},\n "provenances": {provenances},\n'
        f' "cases": [\n{lines}\n ]\n}}\n',
        encoding="utf-8",
    )
    print(f"{TARGET.name}: {len(cases)} texts, tiktoken and tokenizers agree on each")


if __name__ == "__main__":
    main()
