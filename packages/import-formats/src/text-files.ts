import type { Warnings } from "./warnings.ts";
import type { FileTree, TreePath } from "./file-tree.ts";
import { isRounded } from "@tidemark/values";

const NEWLINE = 0x0a;

/**
 * Yields the lines of a text without their line breaks. A line with more than `bytesMax` bytes is counted and left out, and so is the last one if no line break
 * ends it: its writer did not finish it.
 */
export async function* completeLines(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
  warnings: Warnings,
  file: string,
): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const gather = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= bytesMax) parts.push(part);
    else parts = [];
  };
  for await (const piece of pieces) {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, from)) {
      gather(buffer.subarray(from, end));
      if (bytes > bytesMax) warnings.add("too_large", `a line of ${file}`);
      else yield Buffer.concat(parts).toString("utf8");
      [parts, bytes, from] = [[], 0, end + 1];
    }
    gather(buffer.subarray(from));
  }
  if (bytes > 0) warnings.add("torn_tail", file);
}

/** Reads a file as text, or returns undefined if it has more than `bytesMax` bytes. A file that is not there is empty or fails, as the tree does it. */
export async function readTextFile(tree: FileTree, path: TreePath, bytesMax: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of tree.read(path)) {
    bytes += part.length;
    if (bytes > bytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Python's words for numbers that have no digits, in lower case. */
const words: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
]);

const digits = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Reads a number as Python's `float` does (without underscores); undefined if the text is not one. */
export function readPythonFloat(text: string): number | undefined {
  if (digits.test(text)) return Number(text);
  const word = words.get(text.replace(/^[+-]/, "").toLowerCase());
  return word === undefined ? undefined : text.startsWith("-") ? -word : word;
}

/** The same for a part of a point: where the double is another number than the integer that was written, that is counted. */
export function readPointFloat(text: string, key: string, warnings: Warnings): number | undefined {
  const number = readPythonFloat(text);
  if (number !== undefined && isRounded(text, number)) warnings.add("rounded_integer", `${key}: ${text}`);
  return number;
}
