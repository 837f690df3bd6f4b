// What Python sent of a text and its tokens, unpacked: where each token stands, and what it is.

import { bytesFromBase64 } from "../shared/base64.js";
import { runningSlots } from "../shared/colours.js";

const LEAST_TOKENS_A_BLOCK = 200;
const MOST_TOKENS_A_BLOCK = 2000;

export function unpack({ type, data }) {
  const ArrayType = { Uint8Array, Uint16Array, Uint32Array }[type];
  return new ArrayType(bytesFromBase64(data).buffer);
}

export function utf8Size(text, at) {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit < 0xdc00 ? 4 : 3;
}

/** Where each token stands: `at` in UTF-16 units, `into` in bytes of the character at `at` that
    belong to tokens before it, `byteAt` in bytes; one entry more than there are tokens. */
function placeTokens(text, lengths) {
  const n = lengths.length;
  const places = { at: new Uint32Array(n + 1), into: new Uint8Array(n + 1), byteAt: new Uint32Array(n + 1) };
  let [at, into, byteAt] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    places.at[i] = at;
    places.into[i] = into;
    places.byteAt[i] = byteAt;
    byteAt += lengths[i];
    for (let left = lengths[i]; left > 0; ) {
      const size = utf8Size(text, at);
      const step = Math.min(left, size - into);
      left -= step;
      into += step;
      if (into === size) {
        at += size === 4 ? 2 : 1;
        into = 0;
      }
    }
  }
  places.at[n] = at;
  places.into[n] = into;
  places.byteAt[n] = byteAt;
  return places;
}

/** A text's tokens with all that is known of them; `ids` hold -1 where no token stands. */
export function readTokens(text, packed) {
  const shifted = unpack(packed.ids);
  const ids = Int32Array.from(shifted, (id) => id - 1);
  const { table } = packed;
  const about = new Map();
  const special = new Set(table.special);
  const ends = new Set(table.ends);
  table.ids.forEach((id, k) => {
    about.set(id, {
      id,
      token: table.tokens[k],
      left: table.left[k],
      right: table.right[k],
      rank: table.rank[k],
      special: special.has(id),
      ends: ends.has(id),
      marker: table.marker !== null && table.tokens[k] === table.marker && table.rank[k] < 0 && ends.has(id),
    });
  });
  const starts = unpack(packed.starts);
  const places = placeTokens(text, unpack(packed.lengths));
  return {
    text, ids, about, ...places,
    n: ids.length,
    slots: runningSlots(ids),
    marker: table.marker,
    nMerges: table.n_merges,
    startsPretoken: (i) => (starts[i >> 3] >> (7 - (i & 7))) & 1,
  };
}

/** Whether a token covers nothing: a marker that stands alone. */
export function isEmpty(tokens, i) {
  return tokens.byteAt[i] === tokens.byteAt[i + 1];
}

/** Characters that a boundary cuts: the offset of each and the tokens that share it. */
export function cutCharacters(tokens) {
  const cuts = [];
  for (let i = 1; i < tokens.n; i++) {
    if (tokens.into[i] === 0) continue;
    const last = cuts.at(-1);
    if (last && last.at === tokens.at[i]) last.end = i + 1;
    else cuts.push({ at: tokens.at[i], start: i - 1, end: i + 1 });
  }
  return cuts;
}

/** The first token of each block, the same places of the text for all readings: at a line's end
    where there is one, else wherever no reading has a token across. */
export function blockCuts(readings) {
  const [first, ...others] = readings;
  const cursors = others.map(() => 0);
  const cuts = [readings.map(() => 0)];
  let begun = 0;
  for (let i = 1; i < first.n; i++) {
    const size = i - begun;
    const at = first.at[i];
    if (size < LEAST_TOKENS_A_BLOCK || first.into[i] !== 0 || isEmpty(first, i)) continue;
    const lineEnds = first.text.charCodeAt(at - 1) === 10;
    if (!lineEnds && size < MOST_TOKENS_A_BLOCK) continue;
    const same = others.every((other, k) => {
      let j = cursors[k];
      while (j < other.n && (other.at[j] < at || (other.at[j] === at && isEmpty(other, j)))) j++;
      cursors[k] = j;
      return j < other.n && other.at[j] === at && other.into[j] === 0;
    });
    if (same) {
      cuts.push([i, ...cursors]);
      begun = i;
    }
  }
  cuts.push(readings.map((reading) => reading.n));
  return cuts;
}
