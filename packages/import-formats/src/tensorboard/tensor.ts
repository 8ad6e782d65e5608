import { eachField, packedInts } from "../bytes/wire-fields.ts";

/** A tensor of numbers or of texts, in the order of its memory. */
export type Tensor = {
  readonly shape: readonly number[];
  readonly numbers: readonly number[];
  readonly texts: readonly Buffer[];
};

/** Most elements of a tensor that is read. */
const ELEMENTS_MAX = 65_536;

type Numeric = { readonly bytes: number; readonly read: (view: DataView, at: number) => number };

const float: Numeric = { bytes: 4, read: (view, at) => view.getFloat32(at, true) };
const double: Numeric = { bytes: 8, read: (view, at) => view.getFloat64(at, true) };
const half: Numeric = { bytes: 2, read: (view, at) => view.getFloat16(at, true) };
/** The upper half of a float. */
const brain: Numeric = { bytes: 2, read: (view, at) => floatOf(view.getUint16(at, true) * 0x1_0000) };

/** How `tensor_content` encodes numbers, by data type (tensorflow/core/framework/types.proto). */
const numerics: Readonly<Record<number, Numeric>> = {
  1: float,
  2: double,
  3: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  4: { bytes: 1, read: (view, at) => view.getUint8(at) },
  5: { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  6: { bytes: 1, read: (view, at) => view.getInt8(at) },
  9: { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)) },
  10: { bytes: 1, read: (view, at) => view.getUint8(at) },
  14: brain,
  17: { bytes: 2, read: (view, at) => view.getUint16(at, true) },
  19: half,
  22: { bytes: 4, read: (view, at) => view.getUint32(at, true) },
  23: { bytes: 8, read: (view, at) => Number(view.getBigUint64(at, true)) },
};

const DT_STRING = 7;

/** The fields of numbers that are not floats or doubles, as varints. The numbers of halves are their bits. */
const VARINT_FIELDS = new Set([7, 10, 11, 13, 16, 17]);

/** Reads a `TensorProto`; undefined if it is damaged, of another data type, or has more than 65,536 elements. */
export function readTensor(message: Buffer): Tensor | undefined {
  let dtype = 0;
  let content: number[] | undefined;
  let bits: Buffer | undefined;
  let tooMany = false;
  const shape: number[] = [];
  const texts: Buffer[] = [];
  const numbers: number[] = [];
  const add = (read: readonly number[]): void => {
    if (numbers.length + read.length > ELEMENTS_MAX) tooMany = true;
    else for (const value of read) numbers.push(value);
  };
  const whole = eachField(message, ({ number, wire, int, bytes }) => {
    if (number === 1 && wire === 0) dtype = int;
    else if (wire === 2 && bytes.length > ELEMENTS_MAX * 8 && number !== 8) tooMany = true;
    else if (number === 2 && wire === 2) readShape(bytes, shape);
    else if (number === 4 && wire === 2) bits = bytes;
    else if (number === 5) add(fixedNumbers(bytes, float));
    else if (number === 6) add(fixedNumbers(bytes, double));
    else if (number === 8 && wire === 2) texts.push(bytes);
    else if (VARINT_FIELDS.has(number)) add(wire === 0 ? [int] : packedInts(bytes));
  });
  const elements = shape.reduce((product, size) => product * size, 1);
  const numeric = numerics[dtype];
  if (!whole || tooMany || !(elements >= 0 && elements <= ELEMENTS_MAX)) return undefined;
  if (dtype === DT_STRING) return texts.length === elements ? { shape, numbers: [], texts } : undefined;
  if (numeric === undefined) return undefined;
  if (bits !== undefined && bits.length > 0) content = fixedNumbers(bits, numeric);
  else if (numeric === half || numeric === brain) content = numbers.map((value) => numeric.read(viewOf(value), 0));
  const read = content ?? numbers;
  // One number applies to all elements.
  if (read.length === 1 && elements > 1) return { shape, numbers: Array(elements).fill(read[0]), texts };
  return read.length === elements ? { shape, numbers: read, texts } : undefined;
}

function readShape(message: Buffer, shape: number[]): void {
  eachField(message, (field) => {
    if (field.number !== 2 || field.wire !== 2) return;
    let size = 0;
    eachField(field.bytes, ({ number, int }) => {
      if (number === 1) size = int < 0 ? Number.NaN : int;
    });
    shape.push(size);
  });
}

function fixedNumbers(content: Buffer, { bytes, read }: Numeric): number[] {
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  return Array.from({ length: Math.floor(content.length / bytes) }, (_, i) => read(view, i * bytes));
}

function viewOf(bits: number): DataView {
  const view = new DataView(new ArrayBuffer(2));
  view.setUint16(0, bits & 0xffff, true);
  return view;
}

function floatOf(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  return view.getFloat32(0);
}
