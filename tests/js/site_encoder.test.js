// The static site's encoder: thousands of texts become the tokens that bpe_core makes of them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { unpackRun } from "../../ui/components/merge_player/run.js";
import { encodePretokens } from "../../static_site/browser/encode.js";
import { ownWords } from "../../static_site/browser/own_words.js";
import { findLongestWord, packNumbers, packTokens } from "../../static_site/browser/pack_tokens.js";
import { readVocabulary } from "../../static_site/browser/vocabulary.js";
import { decodeBase64, fromSite } from "./python.js";

const { vocabularies, runs } = fromSite();
const opened = vocabularies.map(({ stored, ...expected }) => ({ vocabulary: readVocabulary(decodeBase64(stored)), ...expected }));

for (const { vocabulary, texts, packed } of opened) {
  suite(`texts under ${vocabulary.name}`, () => {
    test("have the ids that bpe_core gives them", () => {
      assert.ok(texts.length > 3000);
      for (const [text, ids] of texts) assert.deepEqual(encodePretokens(text, vocabulary).flat(), ids, JSON.stringify(text));
    });

    test("are packed byte for byte as the app packs them, and opened at the same token", () => {
      for (const [text, message, longest] of packed) {
        const { unknown, ...table } = message.table; // unused in the browser
        assert.equal(unknown, null);
        const pretokens = encodePretokens(text, vocabulary);
        assert.deepEqual(packTokens(pretokens, vocabulary), { ...message, table }, JSON.stringify(text));
        assert.equal(findLongestWord(pretokens.flat(), vocabulary), longest, JSON.stringify(text));
      }
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
  const [{ vocabulary }] = opened;
  for (const { stored, own_words: expected } of runs) {
    const run = unpackRun(decodeBase64(stored), { isSaved: false });
    for (const [text, words] of expected) assert.deepEqual(ownWords(text, run, vocabulary.pattern), words);
  }
});
