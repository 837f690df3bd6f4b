"""Rows for an adapted tokenizer: the recipes against NumPy on whole matrices."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import transformers
from click.testing import CliRunner
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

import bpe_core as bpe
from bpe_core.adapting import Adapted
from bpe_core.cli import main
from bpe_core.formats import TOKENIZER_FILES, dumps, row_files, write_files
from bpe_core.models import Recipe, fitting, tensors
from bpe_core.types import Format

TEXT = bpe.Corpus.from_text("hug hugs hugging the big bugs " * 20)
BASE = bpe.train(["hug bug the rug " * 9], vocab_size=270).tokenizer
EXTENDED = Adapted.of(BASE, bpe.extend(BASE, TEXT, n_tokens=9).tokenizer)
SHRUNK = bpe.shrink(BASE, TEXT, vocab_size=262)
N_COLUMNS = 6
INPUT, OUTPUT = "model.embed_tokens.weight", "lm_head.weight"


def make_model(
    folder: Path, *, n_rows: int, tied: bool, sharded: bool
) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(3)
    rows = {INPUT: rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)}
    if not tied:
        rows[OUTPUT] = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    others = {"model.norm.weight": rng.normal(size=N_COLUMNS).astype(np.float32)}
    folder.mkdir()
    bpe.save(BASE, folder / "tokenizer.json")
    (folder / "config.json").write_text(
        json.dumps({"model_type": "llama", "vocab_size": n_rows, "tie_word_embeddings": tied})
    )
    if sharded:
        weight_map: dict[str, str] = {}
        for number, (name, array) in enumerate({**rows, **others}.items()):
            weight_map[name] = f"model-0000{number}-of-00003.safetensors"
            save_file({name: array}, folder / weight_map[name], {"format": "pt"})
        index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    else:
        save_file({**others, **rows}, folder / "model.safetensors", {"format": "pt"})
    return {**rows, **others}


def write_adapted(folder: Path, adapted: Adapted) -> Path:
    write_files(dumps(adapted.tokenizer, "huggingface") | row_files(adapted), f"{folder}/")
    return folder


def read_all(folder: Path) -> dict[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= load_file(path)
    return found


def expected(
    rows: NDArray[np.float32], adapted: Adapted, recipe: str, name: str
) -> NDArray[np.float32]:
    """Return the rows of all ids, written out without blocks."""
    result: list[NDArray[np.float64]] = []
    for id, old in enumerate(adapted.old_ids.tolist()):
        if old >= 0:
            result.append(rows[old].astype(np.float64))
            continue
        parts = list(adapted.parts[id])
        its = rows[parts].astype(np.float64)
        mean = its.mean(axis=0)
        if recipe == "last":
            mean = np.average(its, axis=0, weights=[2**n for n in range(len(parts))])
        if recipe == "calibrated" and name == OUTPUT:
            mean = np.average(its, axis=0, weights=[len(BASE.vocab[part]) for part in parts])
        elif recipe == "calibrated":
            mean = mean / np.linalg.norm(mean) * np.linalg.norm(its, axis=1).mean()
        result.append(mean)
    return np.array(result, np.float32)


@pytest.mark.parametrize("recipe", ["mean", "calibrated", "last"])
@pytest.mark.parametrize(("adapted", "n_rows"), [(EXTENDED, 270), (EXTENDED, 272), (SHRUNK, 288)])
@pytest.mark.parametrize("tied", [True, False])
def test_rows_are_those_of_the_recipe(
    tied: bool,
    adapted: Adapted,
    n_rows: int,
    recipe: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bpe_core.models.fitting.BLOCK_BYTES", 4 * N_COLUMNS * 7)
    monkeypatch.setattr(tensors, "BLOCK_BYTES", 4 * N_COLUMNS * 7)
    old = make_model(tmp_path / "model", n_rows=n_rows, tied=tied, sharded=n_rows == 272)
    source = write_adapted(tmp_path / "adapted", adapted)
    fitted = bpe.fit_rows(tmp_path / "model", source, tmp_path / "new", recipe=recipe)  # pyright: ignore[reportArgumentType]
    new = read_all(tmp_path / "new")
    n_ids = len(adapted.old_ids)
    assert new.keys() == old.keys()
    assert np.array_equal(new["model.norm.weight"], old["model.norm.weight"])
    for name in (INPUT, *([] if tied else [OUTPUT])):
        assert new[name].shape == (fitted.n_rows, N_COLUMNS)
        assert np.allclose(new[name][:n_ids], expected(old[name], adapted, recipe, name), rtol=1e-6)
        which = "input" if name == INPUT else "output"
        lengths = np.linalg.norm(new[name][:n_ids], axis=1)
        is_new = adapted.old_ids < 0
        before, kept, made = fitted.norms[which]
        assert before == pytest.approx(np.linalg.norm(old[name], axis=1).mean(), rel=1e-5)
        assert kept == pytest.approx(lengths[~is_new].mean(), rel=1e-5)
        assert np.isnan(made) or made == pytest.approx(lengths[is_new].mean(), rel=1e-5)
    # 272 and 288 rows are multiples of 16 and 32; 270 is no multiple of 8.
    assert (
        fitted.n_rows == {270: n_ids, 272: -(-n_ids // 16) * 16, 288: -(-n_ids // 32) * 32}[n_rows]
    )
    config = transformers.AutoConfig.from_pretrained(tmp_path / "new")
    assert config.vocab_size == fitted.n_rows
    opened = bpe.load(tmp_path / "new")
    assert opened.encode("hugging bugs") == adapted.tokenizer.encode("hugging bugs")


DONOR = bpe.train(["hugs hugging bigs bugs the rugs " * 9], vocab_size=290).tokenizer


def make_donor(folder: Path, *, tied: bool) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(8)
    names = (INPUT,) if tied else (INPUT, OUTPUT)
    rows = {name: rng.normal(size=(304, 5)).astype(np.float32) for name in names}
    folder.mkdir()
    bpe.save(DONOR, folder / "tokenizer.json")
    config = {"model_type": "llama", "vocab_size": 304, "tie_word_embeddings": tied}
    (folder / "config.json").write_text(json.dumps(config))
    save_file(rows, folder / "model.safetensors", {"format": "pt"})
    return rows


def by_omp(
    base: NDArray[np.float32], donor: NDArray[np.float32], token: bytes, n_atoms: int
) -> NDArray[np.float64]:
    """Return the row of a new token by orthogonal matching pursuit on whole matrices."""
    id_of = {each: id for id, each in DONOR.vocab.items()}
    shared = [(id_of[each], id) for id, each in BASE.vocab.items() if each in id_of]
    atoms = np.array([donor[one] for one, _ in shared], np.float64)
    target = donor[id_of[token]].astype(np.float64)
    left, chosen, weights = target, list[int](), np.zeros(0)
    for _ in range(n_atoms):
        products = np.abs(atoms @ left)
        products[chosen] = -1
        chosen.append(int(products.argmax()))
        weights = np.linalg.lstsq(atoms[chosen].T, target, rcond=None)[0]
        left = target - weights @ atoms[chosen]
    return weights @ np.array([base[shared[place][1]] for place in chosen], np.float64)


@pytest.mark.parametrize(("tied", "donor_tied"), [(True, True), (False, True), (False, False)])
def test_rows_by_a_donor_are_those_of_matching_pursuit_written_out(
    tied: bool, donor_tied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "BLOCK_BYTES", 4 * 5 * 40)
    monkeypatch.setattr(fitting, "_MAX_BYTES", 4 * 5 * 3 * 2)
    old = make_model(tmp_path / "model", n_rows=270, tied=tied, sharded=False)
    theirs = make_donor(tmp_path / "donor", tied=donor_tied)
    source = write_adapted(tmp_path / "adapted", EXTENDED)
    fitted = bpe.fit_rows(
        tmp_path / "model",
        source,
        tmp_path / "new",
        recipe="omp",
        donor=tmp_path / "donor",
        n_atoms=3,
    )
    new, known = read_all(tmp_path / "new"), {*DONOR.vocab.values()}
    n_found = 0
    for name in (INPUT, *([] if tied else [OUTPUT])):
        its = theirs.get(name, theirs[INPUT])
        wanted = expected(old[name], EXTENDED, "mean", name)
        for id in np.flatnonzero(EXTENDED.old_ids < 0).tolist():
            token = EXTENDED.tokenizer.vocab[id]
            if token in known:
                wanted[id] = by_omp(old[name], its, token, 3)
                n_found += name == INPUT
        assert np.allclose(new[name][: len(wanted)], wanted, atol=1e-4)
    assert fitted.n_from_donor == n_found
    assert 0 < n_found < fitted.n_new


def test_a_row_that_shared_rows_add_up_to_is_found_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 64)).astype(np.float32)
    rows[39] = 2 * rows[4] - rows[30]
    rows[38] = rows[4]  # not shared
    save_file({INPUT: rows}, tmp_path / "model.safetensors")
    found = tensors.open_rows(tmp_path).input
    allowed = np.arange(40) < 38
    chosen, weights = fitting.pursue(found, allowed, rows[39:], 8)
    sums = np.zeros(40)
    sums[chosen[0]] = weights[0]
    assert np.allclose(sums[[4, 30]], [2, -1], atol=1e-3)
    assert np.allclose(np.delete(sums, [4, 30]), 0, atol=1e-3)
    # No row is taken twice, not even where nothing is left of the target.
    assert len({*chosen[0].tolist()}) == 8
    # The same rows by the ids that the base has for them; 38 and 39 are new there.
    base_ids = {place: 1_000 - place for place in range(38)}
    targets = {5_000: 39, 6_000: 38}
    combined = fitting.combine_shared(found, targets, base_ids, 8, lambda _, __, ___: None)
    assert [*combined] == [5_000, 6_000]
    for id, expected in (5_000, {4: 2, 30: -1}), (6_000, {4: 1}):
        its = dict(zip(combined[id].ids.tolist(), combined[id].weights.tolist(), strict=True))
        known = {base_ids[place]: weight for place, weight in expected.items()}
        for base_id, weight in its.items():
            assert weight == pytest.approx(known.pop(base_id, 0), abs=1e-3)
        assert not known


def test_the_command_takes_a_donor_and_says_what_it_lacks(tmp_path: Path) -> None:
    make_model(tmp_path / "model", n_rows=270, tied=True, sharded=False)
    make_donor(tmp_path / "donor", tied=True)
    source = write_adapted(tmp_path / "adapted", EXTENDED)
    given = ["fit-rows", str(tmp_path / "model"), str(source), "--out", str(tmp_path / "new")]
    for options, message in (
        (["--recipe", "omp"], "need each other"),
        (["--donor", str(tmp_path / "donor")], "need each other"),
        (["--recipe", "omp", "--donor", str(tmp_path / "none")], "does not exist"),
    ):
        done = CliRunner().invoke(main, [*given, *options])
        assert (done.exit_code, message in done.output) == (1, True), done.output
        assert not (tmp_path / "new").exists()
    done = CliRunner().invoke(
        main, [*given, "--recipe", "omp", "--donor", str(tmp_path / "donor"), "--atoms", "2"]
    )
    assert done.exit_code == 0, done.output
    assert "of the new tokens are in the donor; others are means" in done.output


def test_new_tokens_take_rows_that_no_token_had(tmp_path: Path) -> None:
    old = make_model(tmp_path / "model", n_rows=300, tied=True, sharded=False)
    source = write_adapted(tmp_path / "adapted", EXTENDED)
    command = ["fit-rows", *map(str, (tmp_path / "model", source)), "--out"]
    done = CliRunner().invoke(main, [*command, str(tmp_path / "new")])
    n_ids = len(EXTENDED.old_ids)
    assert done.exit_code == 0, done.output
    assert (
        f"300 rows before, 300 now: {n_ids} for ids, 9 of them new, and {300 - n_ids}"
        in done.output
    )
    assert np.array_equal(read_all(tmp_path / "new")[INPUT][n_ids:], old[INPUT][n_ids:])
    done = CliRunner().invoke(main, [*command, str(tmp_path / "more"), "--pad-to", "64", "--json"])
    assert json.loads(done.output)["n_rows"] == 320


def fit(folder: Path, name: str = "adapted", recipe: Recipe = "mean") -> Path:
    bpe.fit_rows(folder / "model", folder / name, folder / f"of-{name}", recipe=recipe)
    return folder / f"of-{name}"


@pytest.mark.parametrize("format", ["gpt2", "native", "huggingface"])
@pytest.mark.parametrize("is_renamed", [False, True])
def test_the_new_folder_has_the_adapted_tokenizer_alone(
    format: Format, is_renamed: bool, tmp_path: Path
) -> None:
    make_model(tmp_path / "model", n_rows=272, tied=True, sharded=False)
    write_files(dumps(BASE, "gpt2"), f"{tmp_path}/model/")
    files = dumps(SHRUNK.tokenizer, format)
    if is_renamed and len(files) == 1:
        files = {name.replace("tokenizer", "mine"): data for name, data in files.items()}
    write_files(files | row_files(SHRUNK), f"{tmp_path}/adapted/")
    new = fit(tmp_path)
    opened, adapted = bpe.open_encoder(new), bpe.open_encoder(tmp_path / "adapted")
    assert (opened.vocab, opened.fingerprint) == (adapted.vocab, adapted.fingerprint)
    names = {each.name for each in new.iterdir()} & {*TOKENIZER_FILES}
    # A pair does not say how it cuts text.
    assert names == {*(files if format == "gpt2" else ()), "tokenizer.json"} or (
        format == "native" and names == {"tokenizer.bpe.json"}
    )
    assert bpe.check(new).n_errors == 0
    if "tokenizer.json" in names:
        peer = transformers.AutoTokenizer.from_pretrained(new)
        text = "hugging the bugs in a rug"
        assert peer.encode(text, add_special_tokens=False) == adapted.encode(text)


@pytest.mark.parametrize("recipe", ["mean", "calibrated", "last"])
def test_every_tensor_with_a_row_for_each_token_is_fitted(recipe: Recipe, tmp_path: Path) -> None:
    old = make_model(tmp_path / "model", n_rows=270, tied=True, sharded=False)
    bias = np.random.default_rng(5).normal(size=270).astype(np.float32)
    more = {OUTPUT: old[INPUT], "lm_head.bias": bias, "h.0.mlp.weight": np.ones((270, 2))}
    save_file({**old, **more}, tmp_path / "model/model.safetensors")
    for name, adapted in {"extended": EXTENDED, "shrunk": SHRUNK}.items():
        write_adapted(tmp_path / name, adapted)
        new = read_all(fit(tmp_path, name, recipe))
        assert np.array_equal(new[INPUT], new[OUTPUT])
        its = expected(bias[:, np.newaxis], adapted, recipe, OUTPUT)[:, 0]
        assert np.allclose(new["lm_head.bias"][: len(its)], its, rtol=1e-5)
        assert len(new["lm_head.bias"]) == len(new[INPUT])
        assert new["h.0.mlp.weight"].shape == (270, 2)
    save_file({**old, "final_logits_bias": bias[np.newaxis]}, tmp_path / "model/model.safetensors")
    shutil.rmtree(tmp_path / "of-shrunk")
    with pytest.raises(bpe.ConfigError, match=r"final_logits_bias in .* is of shape 1x270"):
        fit(tmp_path, "shrunk")
    assert not (tmp_path / "of-shrunk").exists()


def test_ids_in_the_configuration_are_renumbered(tmp_path: Path) -> None:
    make_model(tmp_path / "model", n_rows=270, tied=True, sharded=False)
    new_end, end = len(SHRUNK.old_ids) - 1, int(SHRUNK.old_ids[-1])
    assert end != new_end
    settings = {
        "config": {"eos_token_id": end, "pad_token_id": None, "text_config": {"bos_token_id": end}},
        "generation_config": {"eos_token_id": [end, 5], "pad_token_id": -1, "top_k": end},
        "tokenizer_config": {"added_tokens_decoder": {str(end): {"content": "<|endoftext|>"}}},
    }
    for name, content in settings.items():
        (tmp_path / f"model/{name}.json").write_text(json.dumps(content))
    write_adapted(tmp_path / "adapted", SHRUNK)
    new = fit(tmp_path)
    found = {name: json.loads((new / f"{name}.json").read_text()) for name in settings}
    five = SHRUNK.old_ids.tolist().index(5)
    assert found["config"] == {
        **settings["config"],
        "eos_token_id": new_end,
        "vocab_size": len(SHRUNK.old_ids),
        "text_config": {"bos_token_id": new_end},
    }
    assert found["generation_config"] == {
        "eos_token_id": [new_end, five],
        "pad_token_id": -1,
        "top_k": end,
    }
    assert found["tokenizer_config"]["added_tokens_decoder"].keys() == {str(new_end)}
    assert bpe.check(new).n_errors == 0
    gone = ({*range(270)} - {*SHRUNK.old_ids.tolist()}).pop()
    (tmp_path / "model/generation_config.json").write_text(json.dumps({"pad_token_id": gone}))
    shutil.rmtree(new)
    with pytest.raises(bpe.ConfigError, match=f"pad_token_id in generation_config.json is {gone}"):
        fit(tmp_path)
    assert not new.exists()


def test_errors_say_what_to_do_and_leave_nothing(tmp_path: Path) -> None:
    make_model(tmp_path / "model", n_rows=270, tied=True, sharded=False)
    source = write_adapted(tmp_path / "adapted", EXTENDED)
    (tmp_path / "plain").mkdir()
    make_model(tmp_path / "small", n_rows=20, tied=True, sharded=False)
    cases = {
        ("none", "adapted", "new"): "is not a folder",
        ("model", "plain", "new"): "old_ids.npy does not exist. bpe extend, shrink and replace",
        ("model", "adapted", "plain"): "exists. Name a folder that does not",
        ("small", "adapted", "new"): "Give the model whose tokenizer was adapted",
    }
    for (model, adapted, out), message in cases.items():
        arguments = ["fit-rows", *(str(tmp_path / each) for each in (model, adapted)), "--out"]
        done = CliRunner().invoke(main, [*arguments, str(tmp_path / out)])
        assert (done.exit_code, message in done.output) == (1, True), done.output
        assert not (tmp_path / "new").exists()
    (source / "old_ids.npy").write_bytes(b"no")
    with pytest.raises(bpe.FormatError, match="Adapt the tokenizer again"):
        bpe.fit_rows(tmp_path / "model", source, tmp_path / "new")
