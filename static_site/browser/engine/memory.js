// The memory of the kernels in WebAssembly: room for arrays, and calls of kernels with them.
// `bpe_core/kernels/compiling/build.py` made the module.

/** @typedef {keyof typeof KINDS} Kind
    @typedef {{ kind: Kind, at: number, shape: number[] }} Numbers An array in the memory.
    @typedef {{ slots: string[], returns: string[] }} Shape How a kernel is called. */

const KINDS = {
  uint8: Uint8Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
};
const PAGE = 1 << 16;
const LINE = 64; // Arrays begin at lines of the processor's cache.
const MAX_PAGES = 1 << 16;
const ROW = 128; // slots
const KERNELS = "bpe_core.kernels.";
const utf8 = new TextEncoder();

export class Memory {
  #memory = new WebAssembly.Memory({ initial: 32, maximum: MAX_PAGES });
  /** @type {Record<string, (row: number) => number>} */
  #kernels;
  /** @type {Record<string, { paths: { path: string[], size: number, kind: string }[], returns: string[] }>} */
  #calls;
  /** The free stretches, by place: where each starts, and its bytes.
      @type {[number, number][]} */
  #free = [];
  #row;

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    const { exports } = new WebAssembly.Instance(module, { env: { memory: this.#memory } });
    this.#kernels = /** @type {Record<string, any>} */ (exports);
    const { __heap_base: heap, bpe_core_table: table } = /** @type {Record<string, WebAssembly.Global>} */ (exports);
    const bytes = new Uint8Array(this.#memory.buffer, table.value);
    /** @type {Record<string, Shape>} */
    const shapes = JSON.parse(new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))));
    this.#calls = Object.fromEntries(
      Object.entries(shapes).map(([name, { slots, returns }]) => [name, { paths: slots.map(readSlot), returns }]),
    );
    const start = roundUp(heap.value, LINE);
    this.#free = [[start, this.#memory.buffer.byteLength - start]];
    this.#row = this.array("int64", ROW);
  }

  /** The bytes that the memory has grown to. */
  get size() {
    return this.#memory.buffer.byteLength;
  }

  /** The names of all kernels, such as "encoding.encode_text". */
  get kernels() {
    return Object.keys(this.#calls).map((name) => name.slice(KERNELS.length));
  }

  /** Return an array, with zeros or this number in it if one is given, else with what was there before.
      @param {Kind} kind
      @param {number | number[]} shape
      @param {number} [filled]
      @returns {Numbers} */
  array(kind, shape, filled) {
    const numbers = { kind, shape: [shape].flat(), at: 0 };
    numbers.at = this.#take(roomFor(numbers));
    if (filled !== undefined) this.view(numbers).fill(isWide(kind) ? BigInt(filled) : filled);
    return numbers;
  }

  /** Return an array that holds a copy of these numbers.
      @param {Kind} kind
      @param {ArrayLike<number> | BigUint64Array} values */
  copy(kind, values) {
    const numbers = this.array(kind, values.length);
    const view = this.view(numbers);
    if (!isWide(kind) || typeof values[0] === "bigint") {
      view.set(values);
      return numbers;
    }
    // In halves, because each BigInt would be an object.
    const halves = new Uint32Array(view.buffer, view.byteOffset, 2 * values.length);
    for (let i = 0; i < values.length; i++) {
      const value = Number(values[i]);
      halves[2 * i] = value;
      halves[2 * i + 1] = Math.floor(value / 2 ** 32);
    }
    return numbers;
  }

  /** Return the numbers of an array of int64, or the first n.
      @param {Numbers} numbers
      @param {number} [n] */
  read(numbers, n = numbers.shape[0]) {
    const { buffer, byteOffset } = this.view(numbers);
    const [low, high] = [new Uint32Array(buffer, byteOffset, 2 * n), new Int32Array(buffer, byteOffset, 2 * n)];
    const found = new Float64Array(n);
    for (let i = 0; i < n; i++) found[i] = 2 ** 32 * high[2 * i + 1] + low[2 * i];
    return found;
  }

  /** Return an array of the bytes of a text in UTF-8.
      @param {string} text */
  copyText(text) {
    const bytes = this.array("uint8", text.length);
    // Straight into this memory, which halves the time; all at once if it is ASCII.
    const { read, written } = utf8.encodeInto(text, this.view(bytes));
    if (read === text.length) return bytes;
    const rest = utf8.encode(text.slice(read));
    const whole = this.array("uint8", written + rest.length);
    const view = this.view(whole);
    view.set(this.view(this.part(bytes, 0, written)));
    view.set(rest, written);
    this.free(bytes);
    return whole;
  }

  /** Return a view of an array. It is void once the memory grows, so take a new one after each new array.
      @param {Numbers} numbers
      @returns {any} */
  view({ kind, at, shape }) {
    return new KINDS[kind](this.#memory.buffer, at, sizeOf(shape));
  }

  /** Return an array of at least this length: the same, or a copy of at least twice its length in its place.
      @param {Numbers} numbers
      @param {number} length
      @returns {Numbers} */
  longer(numbers, length) {
    const old = numbers.shape[0];
    if (old >= length) return numbers;
    const grown = this.array(numbers.kind, Math.max(length, 2 * old));
    this.view(grown).set(this.view(numbers));
    this.free(numbers);
    return grown;
  }

  /** Return the first numbers of an array as an array in the same place.
      @param {Numbers} numbers
      @param {number} from
      @param {number} to
      @returns {Numbers} Not to be freed. */
  part({ kind, at }, from, to) {
    return { kind, at: at + from * KINDS[kind].BYTES_PER_ELEMENT, shape: [to - from] };
  }

  /** Free an array, or all arrays of a group.
      @param {Numbers | Record<string, any>} given */
  free(given) {
    if (!("kind" in given)) {
      for (const each of Object.values(given)) if (typeof each === "object") this.free(each);
      return;
    }
    const numbers = /** @type {Numbers} */ (given);
    const size = roomFor(numbers);
    let i = this.#free.findIndex(([at]) => at > numbers.at);
    if (i < 0) i = this.#free.length;
    this.#free.splice(i, 0, [numbers.at, size]);
    for (const first of [i, i - 1]) {
      const [one, next] = [this.#free[first], this.#free[first + 1]];
      if (one && next && one[0] + one[1] === next[0]) this.#free.splice(first, 2, [one[0], one[1] + next[1]]);
    }
  }

  /** Take this many bytes; return where.
      @param {number} size */
  #take(size) {
    let i = this.#free.findIndex(([, free]) => free >= size);
    if (i < 0) {
      this.#grow(size);
      i = this.#free.length - 1;
    }
    const [at, free] = this.#free[i];
    if (free === size) this.#free.splice(i, 1);
    else this.#free[i] = [at + size, free - size];
    return at;
  }

  /** @param {number} size */
  #grow(size) {
    const end = this.#memory.buffer.byteLength;
    const last = this.#free.at(-1);
    const isAtEnd = last !== undefined && last[0] + last[1] === end;
    // Each time by an eighth, because browsers may copy the whole.
    const lacking = size - (isAtEnd ? last[1] : 0);
    const pages = Math.ceil(Math.max(lacking, Math.min(end / 8, 1 << 26)) / PAGE);
    try {
      this.#memory.grow(pages);
    } catch {
      throw new Error("The text needs more memory than this browser gives a page. Use less text, or the app.");
    }
    if (isAtEnd) last[1] += pages * PAGE;
    else this.#free.push([end, pages * PAGE]);
  }

  /** Call a kernel with arrays, numbers, and groups of these, by the names of its arguments.
      @param {string} name Such as "encoding.encode_text".
      @param {Record<string, any>} given
      @returns {number | number[]} A number if it returns one, all of them if several. */
  call(name, given) {
    const { paths, returns } = this.#calls[KERNELS + name];
    const row = this.view(this.#row);
    let slot = 1;
    for (const { path, size, kind } of paths) {
      const value = path.length > 1 ? given[path[0]][path[1]] : given[path[0]];
      if (size < 0) {
        if (kind && value.kind !== kind) throw new TypeError(`${name} takes ${path.join(".")} as ${kind}`);
        row[slot] = BigInt(kind ? value.at : value);
      } else {
        row[slot] = BigInt(value.shape[size]);
      }
      slot += 1;
    }
    if (this.#kernels[KERNELS + name](this.#row.at)) throw new Error(`The kernel ${name} failed.`);
    const results = this.read(this.#row, returns.length);
    return returns.length > 1 ? [...results] : results[0];
  }
}

/** Read what a slot holds: an array's address or length, or a number, and whose.
    @param {string} slot Such as "row.ids: Array(int32, 1, 'C', mutable, aligned)" and "row.ids.shape[0]". */
function readSlot(slot) {
  const [name, type = ""] = slot.split(": ");
  const [, path, size] = /^(.*?)(?:\.shape\[(\d)\])?$/.exec(name) ?? [];
  return { path: path.split("."), size: Number(size ?? -1), kind: /rray\((\w+)/.exec(type)?.[1] ?? "" };
}

/** Return whether numbers of a kind have 64 bits.
    @param {Kind} kind */
function isWide(kind) {
  return KINDS[kind].BYTES_PER_ELEMENT === 8;
}

/** @param {number[]} shape */
function sizeOf(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

/** Return the bytes that are taken for an array: at least a line, so that each has a place of its own.
    @param {Numbers} numbers */
function roomFor({ kind, shape }) {
  return roundUp(Math.max(sizeOf(shape) * KINDS[kind].BYTES_PER_ELEMENT, 1), LINE);
}

/** @param {number} n
    @param {number} step */
function roundUp(n, step) {
  return Math.ceil(n / step) * step;
}

/** Return arrays of one kind as one.
    @template {Int32Array | Uint32Array | Uint8Array} Kind
    @param {Kind[]} parts One at least.
    @returns {Kind} */
export function joined(parts) {
  if (parts.length === 1) return parts[0];
  const whole = new /** @type {any} */ (parts[0].constructor)(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Return a power of two that is at least this, and 1024.
    @param {number} least */
export function powerOfTwo(least) {
  return 2 ** Math.max(10, Math.ceil(Math.log2(Math.max(least, 1))));
}
