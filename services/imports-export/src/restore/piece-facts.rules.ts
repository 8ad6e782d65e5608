import {
  ARCHIVE_VERSION,
  decodeLine,
  isArchiveError,
  type ArchiveLine,
  type CountedType,
  type LineOf,
} from "@tidemark/archive";
import { RESTORE_LIMITS } from "@tidemark/limits";
import type { IdType, PlacedLine } from "./new-ids.rules.ts";

/** The kinds of rows that a line may define or name; ids of objects are numbers of their organization. */
export type FactType = IdType | "object" | "trace";

/** A row that a line defines, or one that must be there before it. */
export type Fact = readonly [kind: "defines" | "names", type: FactType, id: string, line: number];

/** The facts of a piece that are needed to judge the whole archive. */
export type PieceFacts = {
  /** Line ends. */
  readonly lines: number;
  readonly ends: { readonly line: number; readonly counts: Readonly<Record<string, number>> } | undefined;
  /** The number of the last line that is not blank; 0: none. */
  readonly last: number;
  readonly counts: Partial<Record<CountedType, number>>;
  /** How often each unknown type occurred. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly facts: readonly Fact[];
  /** The trace that the piece ends with, whose spans are in the next one. */
  readonly openTrace: LineOf<"trace"> | undefined;
};

/** A fault of an archive, with the number of its line, counted from 1. */
export type LineFault = Error & { readonly name: "LineFault"; readonly position: number };

/** Makes a {@link LineFault}. */
export function lineFault(position: number, text: string): LineFault {
  return Object.assign(new Error(`line ${position}: ${text}`), { name: "LineFault" as const, position });
}

/** Recognizes a {@link LineFault}. */
export function isLineFault(error: unknown): error is LineFault {
  return error instanceof Error && error.name === "LineFault";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the lines of a piece, without blank ones; for unknown types only the type. `firstLine` is the number of the first line.
 * @throws LineFault, also at the first line beyond the limit of a piece
 */
export function* linesOf(data: Uint8Array, firstLine: number): Generator<PlacedLine | UnknownType, void, undefined> {
  let number = firstLine;
  for (let from = 0; from < data.length; number++) {
    if (number - firstLine >= RESTORE_LIMITS.pieceLinesMax) {
      throw lineFault(
        number,
        `the lines are too short: ${RESTORE_LIMITS.pieceBytesMin} bytes may have at most ${RESTORE_LIMITS.pieceLinesMax} lines, blank ones included`,
      );
    }
    const found = data.indexOf(0x0a, from);
    const end = found < 0 ? data.length : found;
    const line = readLine(data.subarray(from, end), number);
    if (line !== undefined) yield line;
    from = end + 1;
  }
}

/** A line of a type that this version does not know. */
type UnknownType = { readonly number: number; readonly line: undefined; readonly type: string };

function readLine(bytes: Uint8Array, number: number): PlacedLine | UnknownType | undefined {
  if (bytes.length === 0) return undefined;
  let json: string;
  try {
    json = utf8.decode(bytes);
  } catch {
    throw lineFault(number, "not UTF-8");
  }
  if (json.trim() === "") return undefined;
  try {
    const line = decodeLine(json);
    return line.line === "unknown" ? { number, line: undefined, type: line.type } : { number, line };
  } catch (error) {
    if (isArchiveError(error)) throw lineFault(number, error.message);
    throw error;
  }
}

/** How many unknown types are remembered by name, and the longest name that is. */
const UNKNOWN_TYPES_MAX = 100;
const TYPE_CHARACTERS_MAX = 64;

/**
 * Reads the ids that a piece defines and names. `check` refuses lines that their service would refuse; the first piece is the one with the number 0.
 * @throws LineFault
 */
export function factsOf(
  data: Uint8Array,
  { number: piece, firstLine }: { readonly number: number; readonly firstLine: number },
  check: (line: PlacedLine) => void,
): PieceFacts {
  const facts: Fact[] = [];
  const counts: Partial<Record<CountedType, number>> = {};
  const unknown = new Map<string, number>();
  let [begins, ends, last]: [number | undefined, PieceFacts["ends"], number] = [undefined, undefined, 0];
  let openTrace: PieceFacts["openTrace"];
  for (const placed of linesOf(data, firstLine)) {
    const { number, line } = placed;
    if (ends !== undefined) throw lineFault(number, "something follows the end of the archive");
    last = number;
    openTrace = line?.line === "trace" ? line : undefined;
    if (piece === 0 && begins === undefined && line?.line !== "export") {
      throw lineFault(number, "an archive begins with a line of the type export");
    }
    if (line === undefined) {
      const isNamed = unknown.size < UNKNOWN_TYPES_MAX && placed.type.length <= TYPE_CHARACTERS_MAX;
      const type = isNamed || unknown.has(placed.type) ? placed.type : "others";
      unknown.set(type, (unknown.get(type) ?? 0) + 1);
      continue;
    }
    if (line.line === "export") {
      if (piece > 0 || begins !== undefined) throw lineFault(number, "an archive begins once");
      if (line.version > ARCHIVE_VERSION) {
        throw lineFault(number, `version ${line.version} of the format is newer than ${ARCHIVE_VERSION}`);
      }
      begins = number;
      continue;
    }
    if (line.line === "end") {
      ends = { line: number, counts: line.counts };
      continue;
    }
    check(placed);
    for (const [kind, type, id] of factsOfLine(line)) {
      const before = facts.at(-1);
      if (kind === "names" && before !== undefined && before[0] === "names" && before[1] === type && before[2] === id) {
        continue;
      }
      facts.push([kind, type, id, number]);
    }
    const [type, rows] = countOf(line);
    if (type !== undefined) counts[type] = (counts[type] ?? 0) + rows;
  }
  return { lines: lineEndsOf(data), ends, last, counts, unknown: Object.fromEntries(unknown), facts, openTrace };
}

function lineEndsOf(data: Uint8Array): number {
  let lines = 0;
  for (let at = data.indexOf(0x0a); at >= 0; at = data.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

type Row = Exclude<ArchiveLine, LineOf<"export"> | LineOf<"end">>;

/** Returns what a line counts as at the end of an archive. */
function countOf(line: Row): [type: CountedType | undefined, rows: number] {
  switch (line.line) {
    case "points":
    case "rank_points":
      return [line.line, line.columns.value.length];
    case "lines":
      return [line.line, line.columns.message.length];
    case "object.rows":
    case "version.entries":
    case "version.edges":
    case "trace.spans":
      return [undefined, 0];
    default:
      return [line.line, 1];
  }
}

type Named = readonly [kind: Fact[0], type: FactType, id: string];
const defines = (type: FactType, id: string): Named => ["defines", type, id];
const names = (type: FactType, id: string): Named => ["names", type, id];

/** Other ids that a line names stay unchanged where the archive does not have them. */
function factsOfLine(line: Row): Named[] {
  switch (line.line) {
    case "project":
      return [defines("project", line.id)];
    case "run":
      return [names("project", line.project_id), defines("run", line.id)];
    case "points":
    case "rank_points":
    case "lines":
    case "attribute":
      return [names("run", line.run_id)];
    case "object":
      return [names("run", line.run_id), defines("object", String(line.id))];
    case "object.rows":
      return [names("object", String(line.id))];
    case "artifact":
      return [names("run", line.run_id), defines("artifact", line.id)];
    case "collection":
      return [names("project", line.project_id), defines("collection", line.id)];
    case "version":
      return [names("collection", line.collection_id), defines("version", line.id)];
    case "version.entries":
      return [names("version", line.id), ...line.entries.map(({ id }) => defines("entry", id))];
    case "version.edges":
      return [
        names("version", line.id),
        ...line.edges.flatMap(({ id, run_id }) => [names("run", run_id), defines("edge", id)]),
      ];
    case "trace":
      return [names("run", line.run_id), defines("trace", `${line.run_id} ${line.trace_id}`)];
    case "trace.spans":
      return [names("trace", `${line.run_id} ${line.trace_id}`)];
    case "report":
      return [names("project", line.project_id), defines("report", line.id)];
    case "view":
      return [defines("view", line.id)];
    default:
      throw new Error(`a kind of line without facts: ${String((line satisfies never as { line: string }).line)}`);
  }
}
