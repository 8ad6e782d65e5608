import { anyNumberJson, nonFiniteOf } from "@tidemark/values";
import { archiveError, parse } from "./json-parts.ts";
import type { Field } from "./fields.ts";

/** Writes doubles, none of them infinite, as a list that is read as the same doubles; NaN becomes null. */
export function writeNumbers(numbers: Float64Array): string {
  return writeList(numbers, writeOne);
}

/** Writes any doubles as a list that is read as the same doubles; NaN and infinities become texts. */
export function writeValues(numbers: Float64Array): string {
  return writeList(numbers, (value) => (Object.is(value, -0) ? "-0" : anyNumberJson(value)));
}

function writeList(numbers: Float64Array, write: (value: number) => string): string {
  const joined = `[${numbers.join(",")}]`;
  let plain = true;
  for (const value of numbers) {
    // NaN, infinite, or -0, which joins as 0.
    if (!(value - value === 0) || (value === 0 && 1 / value < 0)) {
      plain = false;
      break;
    }
  }
  return plain ? joined : `[${Array.from(numbers, write).join(",")}]`;
}

function writeOne(value: number): string {
  if (Number.isNaN(value)) return "null";
  if (!Number.isFinite(value)) throw archiveError("a number is not finite");
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Reads numbers; `other` returns the number for what is none, or undefined to refuse it. */
function readNumbers(json: string, other: (item: unknown) => number | undefined): Float64Array {
  const items = parse(json);
  if (!Array.isArray(items)) throw archiveError("not a list");
  const numbers = new Float64Array(items.length);
  for (let i = 0; i < items.length; i++) {
    const item: unknown = items[i];
    const number = typeof item === "number" && Number.isFinite(item) ? item : other(item);
    if (number === undefined) throw archiveError("not a list of finite numbers");
    numbers[i] = number;
  }
  return numbers;
}

/** A column of finite doubles. */
export const numbers: Field<Float64Array> = {
  write: writeNumbers,
  read: (json) => readNumbers(json, () => undefined),
};

/** A column of metric values: any doubles; the texts `NaN`, `Infinity` and `-Infinity` stand for those that JSON does not have. */
export const values: Field<Float64Array> = { write: writeValues, read: (json) => readNumbers(json, nonFiniteOf) };

/** A column of doubles, NaN where there is none, which is null in the line. */
export const numbersWithGaps: Field<Float64Array> = {
  write: writeNumbers,
  read: (json) => readNumbers(json, (item) => (item === null ? Number.NaN : undefined)),
};

/** A column of texts. */
export const texts: Field<readonly string[]> = {
  write: (values) => JSON.stringify(values),
  read: (json) => {
    const items = parse(json);
    if (!Array.isArray(items) || !items.every((item) => typeof item === "string")) {
      throw archiveError("not a list of texts");
    }
    return items;
  },
};

/** Columns of one length, from 1 to a bound; those that are undefined have no values. */
export function columns<T extends object>(fields: Field<T>, lengthMax: number): Field<T> {
  return {
    write: fields.write,
    read: (json) => {
      const value = fields.read(json);
      const lengths = new Set(
        Object.values(value)
          .filter((column) => column !== undefined)
          .map((column: { length: number }) => column.length),
      );
      const [length = 0] = lengths;
      if (lengths.size > 1) throw archiveError("the columns differ in length");
      if (length < 1 || length > lengthMax) throw archiveError(`the columns must have 1 to ${lengthMax} values`);
      return value;
    },
  };
}

/*
 * Columns as the messages of exports carry them: the bytes of typed arrays, which on every machine that we run on have the lowest byte first. A field
 * of doubles would be decoded number by number.
 */

/** Returns the bytes of a column, uncopied. */
export function bytesOfColumn(column: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** Returns the doubles that these bytes are, uncopied where they are aligned. @throws ArchiveError for a part of one */
export function doublesOfBytes(bytes: Uint8Array): Float64Array {
  const whole = aligned(bytes, Float64Array.BYTES_PER_ELEMENT);
  return new Float64Array(whole.buffer, whole.byteOffset, whole.byteLength / Float64Array.BYTES_PER_ELEMENT);
}

/** Returns the indexes that these bytes are, uncopied where they are aligned. @throws ArchiveError for a part of one */
export function indexesOfBytes(bytes: Uint8Array): Uint32Array {
  const whole = aligned(bytes, Uint32Array.BYTES_PER_ELEMENT);
  return new Uint32Array(whole.buffer, whole.byteOffset, whole.byteLength / Uint32Array.BYTES_PER_ELEMENT);
}

function aligned(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.byteLength % size !== 0) throw archiveError("a column ends within a number");
  return bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
}
