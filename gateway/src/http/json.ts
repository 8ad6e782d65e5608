import { anyNumberJson } from "@tidemark/values";
import { mapInTurns } from "@tidemark/work";

/** Text that is already JSON and is added to the answer unchanged: documents, long columns of points. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value of an answer. Properties that are `undefined` are left out. */
export type Json =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Marks a text as JSON. The caller guarantees that it is. */
export function raw(text: string): RawJson {
  return new RawJson(text);
}

const quoted = new Map<string, string>();

/** Returns the name of a property as JSON. Names are remembered, because nearly all repeat. */
function quote(name: string): string {
  let text = quoted.get(name);
  if (text === undefined) {
    text = JSON.stringify(name);
    if (quoted.size < 2000) quoted.set(name, text);
  }
  return text;
}

/** Writes JSON like JSON.stringify; raw parts keep every digit. */
export function writeJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value as readonly Json[]) items += items === "" ? writeJson(item) : `,${writeJson(item)}`;
    return `[${items}]`;
  }
  let members = "";
  for (const [name, part] of Object.entries(value as { readonly [key: string]: Json | undefined })) {
    if (part === undefined) continue;
    members += members === "" ? `${quote(name)}:${writeJson(part)}` : `,${quote(name)}:${writeJson(part)}`;
  }
  return `{${members}}`;
}

/** Writes a list of possibly many large items as JSON, in turns with other work of the process. */
export async function writeListInTurns<Item>(
  items: readonly Item[],
  jsonOf: (item: Item, index: number) => Json,
): Promise<RawJson> {
  const texts = await mapInTurns(items, (item, index) => writeJson(jsonOf(item, index)));
  return raw(`[${texts.join(",")}]`);
}

/**
 * Writes numbers as a JSON array, which is ASCII; NaN and infinities are null. As one text, because numbers of many digits take three times as long when each
 * is written alone. Within one process the columns of messages are typed arrays, which JSON.stringify takes for objects.
 */
function numbersJson(numbers: ArrayLike<number>): string {
  if (Array.isArray(numbers)) return JSON.stringify(numbers);
  const list: number[] = [];
  for (let i = 0; i < numbers.length; i++) list.push(numbers[i]!);
  return JSON.stringify(list);
}

/** Writes numbers as {@link numbersJson} does, but NaN and infinities as texts. */
export function valuesJson(numbers: ArrayLike<number>): string {
  const text = numbersJson(numbers);
  return text.includes("null") ? `[${Array.from(numbers, anyNumberJson).join(",")}]` : text;
}

/** JSON that is written piece by piece into one buffer. */
export type JsonBytes = {
  /** Adds text that is JSON or a piece of JSON. */
  text(text: string): void;
  /** Adds numbers as {@link numbersJson} writes them. */
  numbers(numbers: ArrayLike<number>): void;
  /** Adds numbers as {@link valuesJson} writes them. */
  values(numbers: ArrayLike<number>): void;
  /** Calls `write`, which writes at most `bytesMax` bytes from `at` on and returns where they end. */
  write(bytesMax: number, write: (target: Buffer, at: number) => number): void;
  /** The number of bytes so far. */
  length(): number;
  /** Returns all bytes. Nothing can be added afterwards. */
  take(): Buffer;
};

/** A UTF-16 unit has at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** Begins with a buffer of `capacity` bytes and grows it when needed. */
export function createJsonBytes(capacity: number): JsonBytes {
  let bytes = Buffer.allocUnsafe(capacity);
  let at = 0;
  const makeRoom = (count: number): void => {
    if (at + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(at + count, 2 * bytes.length));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
  };
  const addAscii = (text: string): void => {
    makeRoom(text.length);
    at += bytes.write(text, at, "latin1");
  };
  return {
    text(text) {
      makeRoom(UNIT_BYTES_MAX * text.length);
      at += bytes.write(text, at);
    },
    numbers: (numbers) => addAscii(numbersJson(numbers)),
    values: (numbers) => addAscii(valuesJson(numbers)),
    write(bytesMax, write) {
      makeRoom(bytesMax);
      at = write(bytes, at);
    },
    length: () => at,
    take: () => bytes.subarray(0, at),
  };
}
