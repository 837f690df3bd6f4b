// A tokenizer as the site stores it: its tokens by id, and the pattern that cuts a text. Bytes are
// strings here, one character a byte, because strings are what a Map finds by content.

/** @typedef {object} Vocabulary
    @property {string} name
    @property {RegExp} pattern Matches the next pre-token.
    @property {string[]} special The special tokens as text.
    @property {string[]} tokens The bytes of each token by id; empty for an id that no text becomes.
    @property {Map<string, number>} ids The id of each token by its bytes. */

const MAX_ARGUMENTS = 8192; // of one call: browsers have a limit
const utf8 = new TextEncoder();

/** Read a vocabulary that `stored_vocabulary` in `vocabularies.py` wrote.
    @param {Uint8Array} message
    @returns {Vocabulary} */
export function readVocabulary(message) {
  const headerSize = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  const { name, pattern, special, n_ids } = JSON.parse(new TextDecoder().decode(message.subarray(4, 4 + headerSize)));
  const lengths = message.subarray(4 + headerSize, 4 + headerSize + n_ids);
  const bytes = asString(message.subarray(4 + headerSize + n_ids));
  const tokens = [];
  const ids = new Map();
  let at = 0;
  for (const length of lengths) {
    const token = bytes.slice(at, at + length);
    if (token) ids.set(token, tokens.length);
    tokens.push(token);
    at += length;
  }
  return { name, pattern: new RegExp(pattern, "gu"), special, tokens, ids };
}

/** Return the UTF-8 bytes of a text, one character a byte.
    @param {string} text */
export function byteString(text) {
  return asString(utf8.encode(text));
}

/** @param {Uint8Array} bytes */
function asString(bytes) {
  let string = "";
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    string += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  }
  return string;
}
