// Texts on the static site: the engine, given a tokenizer as the site stores it, makes of thousands of them the
// tokens that bpe_core makes, and packs them as the app does.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { unpackRun } from "../../ui/components/merge_player/run.js";
import { ownWords, pretokensOf } from "../../static_site/browser/own_words.js";
import { packNumbers } from "../../static_site/browser/pack_tokens.js";
import { decodeBase64, engineInNode, fromSite } from "./python.js";

const { data, pattern, vocabularies, runs } = fromSite();
const engine = await engineInNode(data);

for (const { name, stored, texts, cut, packed } of vocabularies) {
  suite(`texts under ${name}`, () => {
    test("have the ids that bpe_core gives them, and are packed byte for byte as the app packs them", async () => {
      const { handle } = await engine.open({ packed: decodeBase64(stored).buffer });
      assert.ok(texts.length > 3000);
      for (const [text, ids] of texts) {
        assert.deepEqual([...(await engine.encode(handle, text)).ids], ids, JSON.stringify(text));
      }
      for (const [text, message, longest] of packed) {
        const { unknown, ...table } = message.table; // unused in the browser
        assert.equal(unknown, null);
        table.normalizes = false; // the browser shows the normalized text, where borders are known
        const shown = await engine.show(handle, text);
        assert.deepEqual(shown, { text, packed: { ...message, table }, longest }, JSON.stringify(text));
      }
      for (const [text, pretokens] of cut) {
        assert.deepEqual(pretokensOf(await engine.place(handle, text)), pretokens);
      }
      const all = texts.map(([text]) => text);
      assert.deepEqual([...(await engine.count(handle, all))], texts.map(([, ids]) => ids.length));
    });
  });
}

test("numbers take the smallest type that holds them", () => {
  assert.deepEqual(packNumbers([1, 2, 255]), { type: "Uint8Array", data: "AQL/" });
  assert.deepEqual(packNumbers([256]), { type: "Uint16Array", data: "AAE=" });
  assert.deepEqual(packNumbers([65536]), { type: "Uint32Array", data: "AAABAA==" });
  assert.deepEqual(packNumbers([]), { type: "Uint8Array", data: "" });
});

test("a visitor's words start as the symbols that bpe_core starts with", () => {
  for (const { stored, own_words: expected } of runs) {
    const run = unpackRun(decodeBase64(stored), { isSaved: false });
    for (const [text, words] of expected) assert.deepEqual(ownWords(text.match(new RegExp(pattern, "gu")) ?? [], run), words);
  }
});
