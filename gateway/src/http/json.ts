/** Text that is JSON already and goes into the answer as it is: documents, long columns of points. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What an answer can be made of. Absent properties (`undefined`) are left out. */
export type Json =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Marks a text as JSON; the caller vouches that it is. */
export function raw(text: string): RawJson {
  return new RawJson(text);
}

const quoted = new Map<string, string>();

/** A property's name as JSON. Nearly all are a codec's own words, written again and again. */
function quote(name: string): string {
  let text = quoted.get(name);
  if (text === undefined) {
    text = JSON.stringify(name);
    if (quoted.size < 2000) quoted.set(name, text);
  }
  return text;
}

/** Writes JSON. Like JSON.stringify, but raw parts keep every digit they came with. */
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

/** JSON that is written piece by piece into one stretch of bytes. */
export type JsonBytes = {
  /** Adds text that is JSON, or a piece of it. */
  text(text: string): void;
  /** Adds what `write` writes into the bytes from `at` on, at most `bytesMax` of them; it returns where it ends. */
  write(bytesMax: number, write: (target: Buffer, at: number) => number): void;
  /** All of it. Nothing can be added then. */
  take(): Buffer;
};

/** A UTF-16 unit has at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** Begins with room for so many bytes, and makes more as it is needed. */
export function createJsonBytes(capacity: number): JsonBytes {
  let bytes = Buffer.allocUnsafe(capacity);
  let at = 0;
  const makeRoom = (count: number): void => {
    if (at + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(at + count, 2 * bytes.length));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
  };
  return {
    text(text) {
      makeRoom(UNIT_BYTES_MAX * text.length);
      at += bytes.write(text, at);
    },
    write(bytesMax, write) {
      makeRoom(bytesMax);
      at = write(bytes, at);
    },
    take: () => bytes.subarray(0, at),
  };
}

/** A number whose digits a double cannot hold; `JSON.stringify` writes them as they came (TC39, JSON.parse source text access). */
export type RawNumber = { readonly rawJSON: string };

const json = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
};

/** Keeps the digits of a number in JSON's notation. @throws SyntaxError when the text is no JSON scalar */
export function rawNumber(text: string): RawNumber {
  return json.rawJSON(text);
}

/** Tells a kept number from an object that a client sent. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}
