import { archiveError, membersOf, parse, isArchiveError } from "./json-parts.ts";
import { writeNumbers, writeValues } from "./columns.ts";
import type { Field, ValueOf } from "./fields.ts";
import { lineShapes } from "./line-shapes.ts";

/** The version of the format that is written, and the newest one that can be read. */
export const ARCHIVE_VERSION = 1;

/** What the first line of an archive calls its product. */
export const ARCHIVE_PRODUCT = "tidemark";

/** Bytes of a line, without the line feed: twice what the largest rows of a request can make. */
export const LINE_BYTES_MAX = 32 * 1024 * 1024;

/** The kinds of lines, `<type>` or `<type>.<part>`. */
export type LineKind = keyof typeof lineShapes;

/** The members of a line of some kind. */
export type LineOf<K extends LineKind> = { readonly line: K } & ValueOf<(typeof lineShapes)[K]>;

/** Any line. */
export type ArchiveLine = { readonly [K in LineKind]: LineOf<K> }[LineKind];

/** A line whose type this version does not know. */
export type UnknownLine = { readonly line: "unknown"; readonly type: string };

/** The members by which lines that continue another one are known. */
const partMembers = new Map([
  ["object", ["rows"]],
  ["version", ["entries", "edges"]],
  ["trace", ["spans"]],
]);

const typeOf = (kind: string): string => kind.split(".", 1)[0]!;

/** Writes a line, with its line feed. @throws ArchiveError for a number that is not finite, unless it is a metric value */
export function encodeLine(line: ArchiveLine): string {
  const json = (lineShapes[line.line] as Field<unknown>).write(line);
  return `{"type":"${typeOf(line.line)}",${json.slice(1)}\n`;
}

/** Columns of points as texts that {@link writeColumn} wrote, the values {@link writeValueColumn}, so that keys of the same points share them. */
export type WrittenColumns = {
  readonly step: string;
  readonly value: string;
  readonly timestamp: string | undefined;
  readonly created_at: string;
};

/** Writes a column of finite doubles; NaN, which only `timestamp` may have, becomes null. @throws ArchiveError for an infinite one */
export const writeColumn = writeNumbers;

/** Writes a column of metric values, which may be any doubles. */
export const writeValueColumn = writeValues;

/** Writes the line that `encodeLine` writes of points whose columns are written already. */
export function encodePoints(
  runId: string,
  key: string,
  { step, value, timestamp, created_at }: WrittenColumns,
): string {
  const times = timestamp === undefined ? "" : `"timestamp":${timestamp},`;
  return `{"type":"points","run_id":"${runId}","key":${JSON.stringify(key)},"columns":{"step":${step},"value":${value},${times}"created_at":${created_at}}}\n`;
}

/**
 * Reads a line. Members that the kind does not have are refused; an unknown type is not. The texts of documents are unchanged.
 * @throws ArchiveError
 */
export function decodeLine(json: string): ArchiveLine | UnknownLine {
  const members = membersOf(json);
  const type = parse(members.get("type") ?? "null");
  if (typeof type !== "string") throw archiveError("type is missing");
  const part = partMembers.get(type)?.find((member) => members.has(member));
  const kind = part === undefined ? type : `${type}.${part}`;
  const shape = type.includes(".") ? undefined : shapeOf(kind);
  if (shape === undefined) return { line: "unknown", type };
  members.delete("type");
  return { line: kind, ...(shape.readMembers(members) as object) } as ArchiveLine;
}

function shapeOf(kind: string): (typeof lineShapes)[LineKind] | undefined {
  return Object.hasOwn(lineShapes, kind) ? lineShapes[kind as LineKind] : undefined;
}

/** A line with its number, counted from 1. */
export type NumberedLine = { readonly number: number; readonly line: ArchiveLine | UnknownLine };

const LINE_FEED = 0x0a;

/**
 * Reads the lines of an archive from its bytes; holds one line at a time. Blank lines are skipped. Text after the last line feed is a
 * line as well, so a truncated archive is found by its missing `end`, or by a last line that is not valid.
 * @throws ArchiveError, whose `position` is the number of the line
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const take = (last: Uint8Array): NumberedLine | undefined => {
    number += 1;
    const bytes = waiting.length === 0 ? last : Buffer.concat([...waiting, last]);
    waiting = [];
    waitingBytes = 0;
    return readLine(bytes, number);
  };
  const keep = (bytes: Uint8Array): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waitingBytes > LINE_BYTES_MAX) throw at(number + 1, archiveError(`longer than ${LINE_BYTES_MAX} bytes`));
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const line = take(chunk.subarray(from, end));
      if (line !== undefined) yield line;
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
  const line = take(new Uint8Array());
  if (line !== undefined) yield line;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readLine(bytes: Uint8Array, number: number): NumberedLine | undefined {
  if (bytes.length > LINE_BYTES_MAX) throw at(number, archiveError(`longer than ${LINE_BYTES_MAX} bytes`));
  let json: string;
  try {
    json = utf8.decode(bytes);
  } catch (error) {
    throw at(number, archiveError("not UTF-8", error));
  }
  if (json.trim() === "") return undefined;
  try {
    return { number, line: decodeLine(json) };
  } catch (error) {
    throw isArchiveError(error) ? at(number, error) : error;
  }
}

function at(number: number, error: Error): Error & { readonly position: number } {
  return Object.assign(archiveError(`line ${number}: ${error.message}`, error), { position: number });
}
