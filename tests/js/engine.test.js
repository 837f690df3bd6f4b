// The engine in the browser learns and encodes as bpe_core does.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { unpack } from "../../ui/components/shared/arrays.js";
import { normalizer, readTokenizerJson, unpackTokenizer } from "../../static_site/browser/engine/tokenizer_file.js";
import { Memory } from "../../static_site/browser/engine/memory.js";
import { decodeBase64, engineInNode, fromEngine, wasmKernels } from "./python.js";

const { data, runs, large, tokenizers, normal_forms: normalForms, added, listed, published } = fromEngine();
const utf8 = new TextEncoder();

const wasm = wasmKernels();
const engine = await engineInNode(data, wasm);

/** Return a message with its arrays, so that a difference can be read. */
function readable(message) {
  const { header, arrays } = unpack(message);
  return { header, arrays: Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, [...numbers]])) };
}

async function check({ documents, options, run: expected, json, replay }) {
  const run = await engine.train({ ...options, documents: documents.map((text) => utf8.encode(text)) });
  const { merges, counts, tokensAfter, words, joinedAt, stopReason } = run;
  const { letters, wordCounts, ...rest } = expected;
  assert.deepEqual({ merges: [...merges], counts: [...counts], tokensAfter: [...tokensAfter], joinedAt: [...joinedAt], stopReason }, rest);
  assert.deepEqual([words.letters, [...words.counts]], [decodeBase64(letters), wordCounts]);
  if (replay) {
    const [start, stop] = replay.range;
    const messages = [await engine.packRun(run, replay.more), await engine.packMerges(run, start, stop, replay.more.player)];
    messages.forEach((message, i) => assert.deepEqual(readable(message), readable(decodeBase64(replay.messages[i]))));
    assert.deepEqual(messages.map((message) => Buffer.from(message).toString("base64")), replay.messages);
  } else {
    await assert.rejects(engine.packMerges(run, 0, 0, ""), /smallest pair/);
  }
  if (json) assert.equal(await engine.tokenizerJson(run), json);
  else await assert.rejects(engine.tokenizerJson(run), /would both be written/);
}

suite("training learns what bpe_core learns, in the same order", () => {
  test("from hundreds of corpora with many ties", async () => {
    let nRuns = 0;
    for (const each of runs.filter(({ run }) => run)) {
      await check(each);
      nRuns += each.run.counts.length > 0 ? 1 : 0;
    }
    assert.ok(nRuns > 400);
  });

  test("from a book, with an index that grows", () => check(large));

  test("and says that there is nothing to learn from", async () => {
    const { documents, settings } = runs.find(({ run }) => !run) ?? { documents: [""], settings: { pretokenizer: "gpt2" } };
    const options = { documents: documents.map((text) => utf8.encode(text)), vocabSize: 300, cut: settings.pretokenizer };
    await assert.rejects(engine.train(options), /no text to learn from/);
  });

  test("and from text alone", async () => {
    const documents = [utf8.encode("hug"), Uint8Array.of(104, 0xe2, 0x82)];
    await assert.rejects(engine.train({ documents, vocabSize: 300, cut: "gpt2" }), /Document 2 is not UTF-8/);
    await assert.rejects(engine.train({ documents: [], vocabSize: 200, cut: "gpt2" }), /starts with 256/);
    await assert.rejects(engine.train({ documents: [], vocabSize: 300, cut: "regex:." }), /cut regex:. is not available/);
  });

  test("until it is cancelled, with the merges so far", async () => {
    const documents = large.documents.map((text) => utf8.encode(text));
    const all = large.run.merges;
    const run = await engine.train({ ...large.options, documents }, ({ stage, done }) => {
      if (stage === "merging" && done > 100) engine.cancel();
    });
    assert.equal(run.stopReason, "cancelled");
    assert.ok(run.counts.length > 100 && run.counts.length < all.length / 2);
    assert.deepEqual([...run.merges], all.slice(0, run.merges.length));
  });
});

for (const { name, json, packed, texts, places } of tokenizers) {
  suite(`texts under ${name}`, () => {
    test("have the same tokenizer, packed or not", async () => {
      const given = decodeBase64(packed).buffer;
      const one = unpackTokenizer(new Memory(new WebAssembly.Module(wasm)), given);
      const other = readTokenizerJson(json, JSON.parse(data));
      assert.deepEqual({ ...one, special: new Map(one.special) }, { ...other, special: new Map(other.special) });
      await engine.close((await engine.open({ packed: given })).handle);
    });

    test("have the ids and the places that bpe_core gives them", async () => {
      const { handle, vocabSize, special } = await engine.open({ json });
      assert.ok(vocabSize >= 900 && special.length > 0);
      assert.ok(texts.length > 3000);
      for (const [i, [text, ids]] of texts.entries()) {
        assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text.slice(0, 200)));
        if (i % 20) continue;
        const found = await engine.place(handle, text);
        assert.deepEqual([...found.ids.filter((id) => id >= 0)], ids);
        const { byte_ends: byteEnds, starts } = places[i / 20];
        let end = 0;
        assert.deepEqual(Array.from(found.lengths, (length) => (end += length)), byteEnds);
        assert.deepEqual([...found.startsWord], starts);
      }
      await engine.close(handle);
      await assert.rejects(engine.encode(handle, "hug"), /closed/);
    });
  });
}

for (const { form, digests, json, texts } of normalForms) {
  test(`${form} changes every character, and texts, as bpe_core changes them`, async () => {
    const normalize = normalizer(form, JSON.parse(data));
    digests.forEach((digest, block) => {
      let text = "";
      for (let code = block << 12; code < (block + 1) << 12; code++) {
        const one = String.fromCodePoint(code);
        if (one.isWellFormed()) text += `${one} a${one}\u0323 e\u0301${one}\u0307${one} 가${one}`;
      }
      const found = createHash("sha256").update(normalize(text)).digest("hex");
      assert.equal(found, digest, `U+${(block << 12).toString(16)} and on`);
    });
    const { handle } = await engine.open({ json });
    assert.ok(texts.length > 20);
    for (const [text, normal, ids] of texts) {
      assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text.slice(0, 200)));
      assert.equal((await engine.show(handle, text)).text, normal);
    }
    await engine.close(handle);
  });
}

test("tokens are found in any text as tokenizers finds them, before it is normalized", async () => {
  for (const { json, texts } of added) {
    const { handle, special } = await engine.open({ json });
    assert.deepEqual(special.map(([token]) => token), ["<|endoftext|>", "<|end|>"]);
    for (const [text, ids] of texts) {
      assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text));
      const placed = await engine.place(handle, text);
      assert.deepEqual([...placed.ids], ids);
      const bytes = placed.lengths.reduce((sum, length) => sum + length, 0);
      assert.equal(bytes, utf8.encode(placed.text).length);
    }
    const [first] = (await engine.place(handle, "hug<tool_call>ing")).startsWord.slice(-2);
    assert.equal(first, 1);
    await engine.close(handle);
  }
});

test("a list of every way to make a token, in any order, gives the ids that tokenizers gives", async () => {
  for (const { json, texts, n_ways: nWays, n_merges: nMerges } of listed) {
    const { handle } = await engine.open({ json });
    for (const [text, ids] of texts) assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text));
    const { packed } = await engine.show(handle, "Alice");
    assert.ok(nMerges ? packed.table.n_merges === nMerges : packed.table.n_merges < 0.8 * nWays);
    await engine.close(handle);
  }
});

test("files as Llama 3.1 and Qwen 3 are published give the ids that tokenizers gives", async () => {
  for (const { path, texts, n_tokens: nTokens } of published) {
    const { handle, vocabSize } = await engine.open({ json: readFileSync(path, "utf8") });
    assert.ok(vocabSize === nTokens && texts.length > 500);
    for (const [text, ids] of texts) assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text.slice(0, 200)));
    await engine.close(handle);
  }
});

test("a run's own tokenizer encodes as its file does, and half a character is refused", async () => {
  const run = await engine.train({ ...large.options, documents: large.documents.map((text) => utf8.encode(text)) });
  const [own, opened] = await Promise.all([engine.open({ run }), engine.open({ json: large.json })]);
  const text = "Alice 🧩 naïve  हिन्दी\n";
  const [one, other] = await Promise.all([own, opened].map(({ handle }) => engine.place(handle, text)));
  assert.deepEqual(one, other);
  assert.equal(one.lengths.reduce((sum, length) => sum + length, 0), utf8.encode(text).length);
  await assert.rejects(engine.encode(own.handle, "a\ud800b"), /UTF-8 cannot encode/);
});

test("files that the kernels do not run exactly are refused with a sentence", async () => {
  const described = JSON.parse(large.json);
  const changed = (changes) => engine.open({ json: JSON.stringify({ ...described, ...changes }) });
  const model = (changes) => changed({ model: { ...described.model, ...changes } });
  await assert.rejects(changed({ normalizer: { type: "Lowercase" } }), /normalizer \(Lowercase\)/);
  const twice = { type: "Sequence", normalizers: [{ type: "NFC" }, { type: "NFC" }] };
  await assert.rejects(changed({ normalizer: twice }), /normalizer \(Sequence\)/);
  await assert.rejects(changed({ pre_tokenizer: { type: "Whitespace" } }), /pre-tokenizer/);
  const plain = { content: "x", id: 0, special: false };
  for (const changes of [
    { added_tokens: [{ ...plain, single_word: true }] },
    { added_tokens: [{ ...plain, normalized: true }], normalizer: { type: "NFC" } },
    { added_tokens: [{ ...plain, content: "y", normalized: true }, plain] },
    { added_tokens: [{ ...plain, content: "" }] },
  ]) await assert.rejects(changed(changes), /finds "x?" in a way of its own/);
  await assert.rejects(model({ type: "Unigram" }), /Unigram/);
  await assert.rejects(model({ byte_fallback: true }), /byte_fallback/);
  await assert.rejects(model({ merges: [["zz", "q"]] }), /not in the vocabulary/);
  await assert.rejects(model({ merges: described.model.merges.slice(0, 20).concat([["Alice", "x"]]), vocab: { ...described.model.vocab, Alicex: 9_999 } }), /part that nothing makes/);
  await assert.rejects(model({ vocab: { ...described.model.vocab, A: undefined }, merges: [] }), /lacks some of the 256 bytes/);
});
