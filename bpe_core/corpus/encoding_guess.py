"""Guess the encoding of a text that has no byte order mark.

Some encodings show in the first bytes: those of several bytes a character, and those that write
other scripts as ASCII. Others fit any bytes, and are judged by the letters that they give: those of
one European language, or frequent Chinese, Japanese and Korean characters. `charset-normalizer`
guesses the rest.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator
from typing import Final

import regex

from bpe_core.extras import needs_extra

JUDGED_BYTES: Final = 1 << 20
"""How much of a file's beginning shows its encoding."""

# UTF-8 with more NUL and control bytes than both this share and this number is not text.
_MAX_CONTROLS: Final = 0.05
_FEW_CONTROLS: Final = 4
_CONTROLS: Final = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})

# The encodings to guess from if a file is not UTF-8. Python has many more codecs, but they are
# hardly used and fit any bytes.
LEGACY_ENCODINGS = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp1258",
    "cp874",
    "koi8_r",
    "koi8_u",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
)
_UTF_16: Final = ("utf-16-le", "utf-16-be")
_WIDE: Final = ("utf-32-le", "utf-32-be", *_UTF_16)
# The sequence by which ISO-2022 changes to characters of two bytes, or to those of Japan of one.
_ISO_2022: Final = regex.compile(rb"\x1b(?:\$[@AB]|\$[()+][A-Z]|\([IJ])")
_ISO_2022_ENCODINGS: Final = (
    "iso2022_jp", "iso2022_jp_2", "iso2022_jp_ext", "iso2022_jp_2004", "iso2022_kr",
)  # fmt: skip
_MIN_IN_ASCII: Final = 3
"""The number of characters beyond ASCII that must be found in what else is plain ASCII."""
_SAMPLE_BYTES: Final = 32_768
_SAMPLE: Final = 4_096
_BEYOND_ASCII_BYTE: Final = regex.compile(rb"[\x80-\xff]")
_LINE_END: Final = regex.compile(rb"\r\n|\r|\n")
_BEYOND_ASCII: Final = regex.compile(r"[^\x00-\x7f]")
# Characters that no text has: without a meaning, halves, and control characters.
_NOT_WRITTEN: Final = regex.compile(r"[\p{Cn}\p{Co}\p{Cs}\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_SCRIPTS: Final = regex.compile(
    r"(?P<cjk>[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}])|(?P<latin>[\p{Latin}--[A-Za-z]])"
    r"|(?P<greek>\p{Greek})|(?P<cyrillic>\p{Cyrillic})|(?P<arabic>\p{Arabic})|(?P<hebrew>\p{Hebrew})"
    r"|(?P<thai>\p{Thai})|(?P<devanagari>\p{Devanagari})|(?P<bengali>\p{Bengali})"
    r"|(?P<tamil>\p{Tamil})|(?P<georgian>\p{Georgian})|(?P<armenian>\p{Armenian})|(?P<other>[\p{L}--[A-Za-z]])",
    regex.VERSION1,
)
_LATIN: Final = regex.compile("[A-Za-z]")
_MAIN_SCRIPT: Final = 0.9
_ASIAN: Final = ("gb18030", "euc_jp", "cp932", "big5", "cp949")
_KANA: Final = regex.compile(r"[\u3041-\u30ff]")
_IDEOGRAPH_OR_SYLLABLE: Final = regex.compile(r"[\p{Han}\uac00-\ud7a3]")
_ASIAN_MARK: Final = regex.compile(r"[、。，「」『』！？：；（）《》・ー…—～“”]")
_MIN_FREQUENT: Final = 0.35
# The most frequent characters of Chinese, simplified and traditional, and of Japanese.
_FREQUENT: Final = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
    "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政"
    "美相见被利什二等产新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解"
    "水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计"
    "管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完"
    "设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运吗呢吧早晚睡"
    "喜欢请谢很问答语言词句字母吃喝茶饭米菜买卖钱店街车站票飞机医院姓岁职业"
    "這個們來為國說時會對過發後著裡還進樣實軍無與長機關業將兩間問並應戰頭體見產話給門兒東聲員論義條係氣題"
    "爾別變總電數報結務場計張該傳師觀讓識導爭運書馬設許統區隊決達難權術領確記類據邊規覺點學經麼動開從嗎謝"
    "請喜歡買賣錢車飛醫歲職飯茶"
    "会国何京行言持者物力川火木土校語電車食飲友達前聞朝昨駅円歳私今曜誰元英読書聴見寝起遅早待帰"
)
_FREQUENT_SYLLABLES: Final = frozenset(
    "이다는을를에의가고하지한은도로기사리어나자아서시해그대인수일게들있니요주정부보라만면것안전적제구말스여"
    "무상조원성과선오장공신치때더까저야했었없않우거내세습와난데네좋잘침녕"
)

# The letters beyond ASCII of each language, in the order in which the encodings are tried.
_ALPHABETS: Final = {
    "cp1252": (
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúüªº",
        "áàâãçéêíóôõúüªº",
        "àèéìíîòóùúªº",
        "åäöéàü",
        "æøåéèêóòô",
        "áðéíóúýþæö",
        "ëïéèêüöáóí",
        "àçèéíïòóúü·ñªº",
        "áéíóú",
        # English: names and loanwords.
        "éèêëïîôñçöüàâäáíóúåæø",
    ),
    "cp1250": (
        "ąćęłńóśźż",
        "áčďéěíňóřšťúůýž",
        "áäčďéíĺľňóôŕšťúýž",
        "áéíóöőúüű",
        "ăâîşţ",
        "čćđšž",
    ),
    "cp1254": ("çğıiöşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}
# The letters that make up most of a text in other alphabets, in lower case: KOI8 has the upper case
# where Windows has the lower.
_FREQUENT_LETTERS: Final = {
    "cp1251": "оеаинтслвркмдпуяыьбзії",
    "koi8_r": "оеаинтслвркмдпуяыьбз",
    "koi8_u": "оеаинтслвркмдпуяыьбзії",
    "cp1253": "αοιετσνηυρπκμλςάίόέήγδχ",
    "cp1255": "יוהלארתבשמנדכקעחםן",
    "cp1256": "اليمونترهبدعسفكقحةج",
    "cp874": "านรอกเงมยลวดทสตะปบคหแจพชขใไ่้ัีิุูืำ",
}
_MIN_FREQUENT_LETTERS: Final = 0.6
# Typography that all of these encodings have, and cp1252 first.
_PUNCTUATION: Final = frozenset("‘’‚“”„–—…•«»‹›¿¡§©®°™€£·×\xa0\xad½¼¾¹²³†‡µ¶´¢¥‰±¤¦¬¨¯¸÷")
_MIN_COVERED: Final = 0.97
_ASCII_LETTER: Final = regex.compile(rb"[0-9A-Za-z]")
_HIGH_BYTE: Final = regex.compile(rb"[\x80-\xff]")
# A letter, or a symbol within a word or before one, as in `³ódŸ`: it stands for a letter. Not those
# that stand at the same byte in all Windows encodings: 25°C, 5µm and ©Acme have no letters.
_LETTER_OR_SYMBOL: Final = regex.compile(
    r"[\p{L}--[A-Za-zµ]]"
    r"|(?<=\p{L})[^\p{L}\p{M}\x00-\x7f’‘“”‚„…•†‡‰‹›™\xa0\xad·–—©®°§¶±«»¦¬](?=\p{L})"
    r"|[[\p{So}\p{Sc}\p{Sk}¹²³¼½¾]--[©®°¦¤£¥]](?=\p{L})",
    regex.VERSION1,
)


def shown_encoding(head: bytes) -> str | None:
    """Return the encoding that the beginning of a text shows without a byte order mark, or None.

    None stands for UTF-8 and for encodings that have to be guessed. `head` is all of the text, or
    its first `JUDGED_BYTES`.

    >>> shown_encoding("да, это так".encode("utf-16-le")), shown_encoding("да".encode())
    ('utf-16-le', None)
    >>> shown_encoding("日本語のテキスト".encode("iso2022_jp"))
    'iso2022_jp'
    """
    is_ascii = head.isascii()
    if is_ascii and b"\x1b" in head and _ISO_2022.search(head):
        fitting = (each for each in _ISO_2022_ENCODINGS if _is_written_in(head, each))
        return next(fitting, _ISO_2022_ENCODINGS[0])
    if has_controls(head):
        return _wide_encoding(head)
    # A line of an Indic script has hardly any: its bytes are tabs or line ends, and ASCII.
    if b"\x00" in head:
        written = (each for each in _UTF_16 if _is_written_in(head, each))
        if (found := next(written, None)) is not None:
            return found
    if not is_ascii:
        is_utf8 = _decoded(head, "utf-8") is not None
        if not is_utf8 and b"\x00" in head:
            return _wide_encoding(head)
        return None if is_utf8 and not _n_controls(head) else _asian_guess(head, _UTF_16)
    if b"~{" in head and _is_written_in(head, "hz"):
        return "hz"
    return "utf-7" if b"+" in head and _is_written_in(head, "utf-7") else None


def has_controls(data: bytes) -> bool:
    """Return True if a file has more control characters than text in one byte a character has.

    >>> has_controls(b"hug"), has_controls(bytes(9))
    (False, True)
    """
    return _n_controls(data) > max(_MAX_CONTROLS * len(data), _FEW_CONTROLS)


def guessed_encodings(data: bytes, name: str) -> Iterator[str]:
    """Yield encodings that a text may have which is not UTF-8, the most likely first.

    Raises MissingExtraError once charset-normalizer is needed and not installed.

    >>> next(guessed_encodings("déjà vu à la plage".encode("cp1252"), "a.txt"))
    'cp1252'
    """
    sample = _lines_beyond_ascii(data)
    own = latin_guess(sample) or _asian_guess(sample, _ASIAN) or _alphabet_guess(sample)
    if own is not None:
        yield own
    # Imported here because it is slow, and most files are UTF-8.
    with needs_extra("tables", f"{name} is not UTF-8. Guessing its encoding"):
        from charset_normalizer import from_bytes

    for match in from_bytes(sample, cp_isolation=list(LEGACY_ENCODINGS)):
        if match.encoding != own:
            yield match.encoding


def _n_controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROLS))


def _decoded(head: bytes, encoding: str) -> str | None:
    """Return the beginning of a text, which may end within a character, or None if it is not."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(head, final=len(head) < JUDGED_BYTES)
    except (UnicodeDecodeError, ValueError):
        return None


def _wide_encoding(head: bytes) -> str | None:
    """Return the UTF-32 or UTF-16 that bytes are, by what they would say."""
    found: list[tuple[int, str]] = []
    for encoding in _WIDE:
        width = 4 if encoding.startswith("utf-32") else 2
        text = _decoded(head[: len(head) // width * width], encoding)
        if text and _is_plausible(text):
            if width == 4:
                return encoding
            found.append((sum(map(str.isascii, text[:_SAMPLE])), encoding))
    return max(found, default=(0, None))[1]


def _is_written_in(head: bytes, encoding: str) -> bool:
    """Return True if ASCII holds another script in an encoding."""
    text = _decoded(head, encoding)
    return (
        text is not None
        and len(_BEYOND_ASCII.findall(text)) >= _MIN_IN_ASCII
        and _is_plausible(text)
    )


def _is_plausible(text: str) -> bool:
    """Return True if a text has characters that people write, of one script besides ASCII."""
    text = text[:_SAMPLE]
    if _NOT_WRITTEN.search(text.removeprefix("\ufeff")):
        return False
    scripts = Counter(found.lastgroup for found in _SCRIPTS.finditer(text))
    if scripts:
        if scripts.most_common(1)[0][1] < _MAIN_SCRIPT * scripts.total():
            return False
    elif not _LATIN.search(text):
        return False
    return _frequency(text) >= _MIN_FREQUENT


def _frequency(text: str) -> float:
    """Return the share of Chinese, Japanese and Korean characters that are frequent; 1 if none.

    Nearly all that a wrong encoding gives are rare.
    """
    characters = _IDEOGRAPH_OR_SYLLABLE.findall(text)
    kana, marks = len(_KANA.findall(text)), len(_ASIAN_MARK.findall(text))
    n_frequent = sum(each in _FREQUENT or each in _FREQUENT_SYLLABLES for each in characters)
    total = len(characters) + kana + marks
    return (n_frequent + kana + marks) / total if total else 1.0


def _asian_guess(data: bytes, encodings: tuple[str, ...]) -> str | None:
    """Return the encoding that gives frequent characters of Chinese, Japanese or Korean."""
    best, most = None, _MIN_FREQUENT
    for encoding in encodings:
        text = _decoded(data, encoding)
        if text is None or _NOT_WRITTEN.search(text):
            continue
        text = text[:_SAMPLE]
        beyond = len(_BEYOND_ASCII.findall(text)) or 1
        asian = (len(each.findall(text)) for each in (_IDEOGRAPH_OR_SYLLABLE, _KANA, _ASIAN_MARK))
        share = _frequency(text) * sum(asian) / beyond
        if share > most:
            best, most = encoding, share
    return best


def _alphabet_guess(sample: bytes) -> str | None:
    """Return the encoding in which most letters are frequent ones of one alphabet but the Latin."""
    best, most = None, _MIN_FREQUENT_LETTERS
    for encoding, frequent in _FREQUENT_LETTERS.items():
        text = _decoded(sample, encoding)
        if text is None or _NOT_WRITTEN.search(text):
            continue
        text = text[:_SAMPLE]
        letters = [each for each in _BEYOND_ASCII.findall(text) if each not in _PUNCTUATION]
        n_frequent = sum(letter in frequent for letter in letters)
        is_in_latin = 2 * len(letters) < len(_LATIN.findall(text))
        if letters and not is_in_latin and n_frequent > most * len(letters):
            best, most = encoding, n_frequent / len(letters)
    return best


def _lines_beyond_ascii(data: bytes) -> bytes:
    """Return lines with bytes beyond ASCII: only they differ between encodings."""
    lines: list[bytes] = []
    size = end = 0
    while size <= _SAMPLE_BYTES and (found := _BEYOND_ASCII_BYTE.search(data, end)):
        begin = max(data.rfind(b"\n", end, found.start()), data.rfind(b"\r", end, found.start()))
        begin = max(end, begin + 1)
        line_end = _LINE_END.search(data, found.start())
        end = line_end.end() if line_end else len(data)
        lines.append(data[begin : min(end, begin + _SAMPLE_BYTES)])
        size += end - begin
    return b"".join(lines)


def latin_guess(data: bytes) -> str | None:
    """Return the encoding in which a text has the letters of one language, or None.

    Encodings such as cp1252 and cp1250 give nearly every byte a letter, so a wrong one still
    decodes. But it then yields letters that no single language has together: `Pøíliš žluký` is not
    in any. Western encodings come first if several fit. None also stands for text in other scripts.

    >>> latin_guess("déjà vu à la plage".encode("cp1252"))
    'cp1252'
    >>> latin_guess("zażółć gęślą jaźń".encode("cp1250"))
    'cp1250'
    """
    if len(_HIGH_BYTE.findall(data)) > 2 * len(_ASCII_LETTER.findall(data)):
        return None
    best, covered_best = None, 0.0
    for encoding, alphabets in _ALPHABETS.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        covered = _most_covered(text, alphabets)
        if covered > covered_best:
            best, covered_best = encoding, covered
    return best if covered_best >= _MIN_COVERED else None


def _most_covered(text: str, alphabets: tuple[str, ...]) -> float:
    """Return the share of letters beyond ASCII that one alphabet has, for the best of them."""
    letters = _LETTER_OR_SYMBOL.findall(text)
    if not letters:
        beyond_ascii = [character for character in text if not character.isascii()]
        return sum(c in _PUNCTUATION for c in beyond_ascii) / (len(beyond_ascii) or 1)
    return max(
        sum(letter.lower() in alphabet for letter in letters) for alphabet in alphabets
    ) / len(letters)
