// Arrays by name, as `write_arrays` in `bpe_core/files/kept_arrays.py` writes them.

/** @typedef {Uint8Array | Int16Array | Uint16Array | Int32Array | Float64Array} Numbers */

/** @type {Record<string, new (buffer: ArrayBuffer, offset: number, size: number) => Numbers>} */
const TYPES = { uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, float64: Float64Array };

/** Unpack a message: its header, and the arrays that the header names.
    @param {Uint8Array} message
    @returns {{ header: any, arrays: Record<string, Numbers> }} */
export function unpack(message) {
  // A copy has its own buffer, in which the arrays are aligned.
  const buffer = Uint8Array.from(message).buffer;
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, Numbers>} */
  const arrays = {};
  /** @type {[string, [string, number, number[]]][]} */
  const places = Object.entries(header.arrays);
  for (const [name, [type, offset, shape]] of places) {
    const size = shape.reduce((product, each) => product * each, 1);
    arrays[name] = new TYPES[type](buffer, 4 + length + offset, size);
  }
  return { header, arrays };
}
