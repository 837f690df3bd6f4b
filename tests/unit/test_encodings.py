"""Guess the encoding of texts in many languages, or take the one that is named."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from bpe_core.corpus import parallel_texts
from tests.uploads import Upload

WESTERN = {
    "German": "Die Straße ist für Fußgänger gesperrt. Über größere Änderungen reden wir später.",
    "French": "Où êtes-vous ? L’été dernier, nous étions à la plage, près de la forêt.",
    "Spanish": "¿Dónde está el niño? Mañana vendrá el señor Muñoz con su corazón.",
    "Portuguese": "A ação não é tão fácil; são questões de coração e razão.",
    "Italian": "Perché la città è così bella? Può darsi che più tardi sarà.",
    "Swedish": "Här är några ord på svenska: räksmörgås, älg och ö.",
    "Danish": "Blåbærgrød på øen er en særlig ret, som æder ål.",
    "Finnish": "Hyvää päivää, mitä kuuluu? Äiti söi pöydän ääressä.",
    "Dutch": "Eén idee: reünie, coördinatie, financiële geïnteresseerd.",
    "Icelandic": "Það er gott veður í dag, þökk sé sólinni.",
    "Irish": "Tá sé go maith, a Sheáin, fáilte",
    "English": "He paid £5 – “a lot” for a café’s naïve résumé.",
    "English price": "He paid £5",
    "English quotes": "“Hello,” she said – it’s fine.",
}
CENTRAL = {
    "Polish": "Zażółć gęślą jaźń. Łódź jest piękna, proszę państwa.",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy. Dnes je hezky, děkuji.",
    "Hungarian": "Árvíztűrő tükörfúrógép. Jó napot kívánok, kedves őrült barátom?",
    "Romanian": "Bună ziua, ce faceţi? Îmi place mămăliga şi brânza românească.",
    "Croatian": "Šašava đačka čuči na žici. Čovječe, što želiš?",
    "Slovak": "Kŕdeľ šťastných ďatľov učí pri ústí Váhu mĺkveho koňa.",
    "Slovenian": "V kožuščku hudobnega fanta stopiclja mizar.",
}
OTHERS = {
    "Turkish": ("cp1254", "Bugün hava çok güzel, değil mi? Şimdi eve gidiyorum, ışık açık."),
    "Lithuanian": ("cp1257", "Ačiū, kaip sekasi? Žąsys ir ėriukai šoka ant ūkio."),
}
CASES = [
    *(("cp1252", text) for text in WESTERN.values()),
    *(("cp1250", text) for text in CENTRAL.values()),
    *OTHERS.values(),
]


@pytest.mark.parametrize(("encoding", "text"), CASES, ids=[*WESTERN, *CENTRAL, *OTHERS])
def test_a_sentence_is_read_in_the_encoding_of_its_language(encoding: str, text: str) -> None:
    corpus = bpe.read_corpus(Upload("old.txt", text.encode(encoding)))
    assert corpus.documents == (text,)
    assert corpus.encodings == (encoding,)
    (note,) = corpus.file_notes
    assert (note.kind, note.choice) == ("encoding", encoding)


@pytest.mark.parametrize("language", ["French", "German", "Spanish", "Finnish"])
@pytest.mark.parametrize("n_sentences", [1, 3, 12])
def test_western_samples_are_read_as_cp1252(language: str, n_sentences: int) -> None:
    (sample,) = (text for text in parallel_texts() if text.name == language)
    text = "\n".join(sample.sentences[:n_sentences])
    data = text.encode("cp1252")
    corpus = bpe.read_corpus(Upload("old.txt", data))
    assert corpus.documents == (text,)
    assert corpus.encodings == ("utf-8" if data.isascii() else "cp1252",)


def test_an_encoding_that_is_named_is_used_for_all_files_or_for_those_named() -> None:
    data = "ačiū".encode("cp1257")
    files = [Upload("a.txt", data), Upload("b.csv", b"text\n" + data), Upload("c.txt", b"plain")]
    corpus = bpe.read_corpus(files, encoding="cp1257")
    assert corpus.documents == ("ačiū", "ačiū", "plain")
    assert corpus.encodings == ("cp1257",) * 3
    assert not corpus.notes
    corpus = bpe.read_corpus(files, encoding={"a.txt": "cp1250"})
    assert corpus.documents[0] == data.decode("cp1250")
    assert corpus.encodings[0] == "cp1250"
    assert [note.file for note in corpus.file_notes] == ["b.csv"]


def test_an_encoding_that_does_not_fit_is_refused_by_byte() -> None:
    with pytest.raises(
        bpe.TextDecodingError, match=r"should be utf-8, but is not at byte 1 \(0xE9\)"
    ):
        bpe.read_corpus(Upload("a.txt", "été".encode("cp1252")[1:]), encoding="utf-8")


def test_a_byte_order_mark_is_removed_whichever_encoding_is_named() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16-le"):
        data = "\ufeffhug".encode(encoding.removesuffix("-sig"))
        assert bpe.read_corpus(Upload("a.txt", data), encoding=encoding).documents == ("hug",)


@pytest.mark.parametrize("encoding", ["wingdings", "", "hex", "rot13", "idna", "a\0b", "\ud800"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    for chosen in (encoding, {"a.txt": encoding}):
        with pytest.raises(bpe.ConfigError, match="Expected the name of an encoding"):
            bpe.read_corpus(Upload("a.txt", b"hug"), encoding=chosen)
