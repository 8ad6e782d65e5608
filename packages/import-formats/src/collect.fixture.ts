import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Item, ObjectItem, RunItem, WarningCode } from "./items.ts";

type Cell = number | string | null;

/** What a reader says about a run, in the form that `expected.json` of the fixtures has. */
export type CollectedRun = {
  /** All fields that items of the run named, the last of each. */
  fields: Partial<RunItem>;
  /** Step, value, time. */
  points: Record<string, [number, number, number | null][]>;
  /** Step (null: none) and text. */
  texts: Record<string, [number | null, Cell][]>;
  attributes: Record<string, unknown>;
  histograms: Record<string, [number | null, readonly number[], readonly number[]][]>;
  /** Step, and the SHA-256 of the bytes or the path. */
  images: Record<string, [number | null, string][]>;
  tables: Record<string, [number | null, unknown][]>;
  files: Record<string, { type?: string; size?: number; digest?: string; path?: string; uri?: string }>;
  lines: Record<string, string[]>;
};

/** The items of a reader, by run, and the counted warnings by run (empty: of none). */
export type Collected = {
  readonly runs: Record<string, CollectedRun>;
  readonly warnings: Record<string, Partial<Record<WarningCode, number>>>;
};

/** Where the fixtures are. */
export const fixturesFolder = join(import.meta.dirname, "../fixtures");

/** Returns `expected.json` of a fixture. */
export function readExpected<Run>(fixture: string): { runs: Record<string, Run> } {
  return JSON.parse(readFileSync(join(fixturesFolder, fixture, "expected.json"), "utf8")) as {
    runs: Record<string, Run>;
  };
}

/** Runs a reader to its end and collects its items. @throws Error where items of a run precede the run */
export async function collect(items: AsyncIterable<Item> | Iterable<Item>): Promise<Collected> {
  const runs: Record<string, CollectedRun> = {};
  const warnings: Collected["warnings"] = {};
  for await (const item of items) {
    if (item.kind === "warning") {
      const counts = (warnings[item.run ?? ""] ??= {});
      counts[item.code] = (counts[item.code] ?? 0) + item.count;
      continue;
    }
    if (item.kind === "run") {
      const { kind: _kind, run: _run, ...fields } = item;
      if (runs[item.run] === undefined && fields.status === undefined) throw new Error(`${item.run} has no status`);
      const known = (runs[item.run] ??= newRun());
      known.fields = { ...known.fields, ...fields };
      continue;
    }
    const known = runs[item.run];
    if (known === undefined) throw new Error(`an item of ${item.run} precedes the run`);
    add(known, item);
  }
  return { runs, warnings };
}

function newRun(): CollectedRun {
  const of = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;
  const columns = {
    points: of<never>(),
    texts: of<never>(),
    attributes: of(),
    histograms: of<never>(),
    images: of<never>(),
  };
  return { fields: {}, ...columns, tables: of(), files: of(), lines: of() };
}

function add(run: CollectedRun, item: Exclude<Item, { kind: "run" } | { kind: "warning" }>): void {
  if (item.kind === "points") {
    const { key, steps, values, times } = item;
    const rows = (run.points[key] ??= []);
    for (const [i, step] of steps.entries()) {
      const time = times?.[i] ?? Number.NaN;
      rows.push([step, values[i]!, Number.isNaN(time) ? null : time]);
    }
  } else if (item.kind === "lines") {
    (run.lines[item.stream] ??= []).push(...item.lines.map(({ message }) => message));
  } else if (item.kind === "attribute") {
    if (item.type === "config") run.attributes[item.path] = item.value;
    else (run.texts[item.path] ??= []).push([item.step ?? null, item.value as Cell]);
  } else if (item.kind === "file") {
    const { kind: _kind, run: _run, name, ...file } = item;
    run.files[name] = file;
  } else addObject(run, item);
}

function addObject(run: CollectedRun, item: ObjectItem): void {
  const step = item.step ?? null;
  if (item.object === "histogram") {
    (run.histograms[item.key] ??= []).push([step, item.value.bins, item.value.counts]);
  } else if (item.object === "table") (run.tables[item.key] ??= []).push([step, item.rows]);
  else {
    const { file } = item;
    const content = "path" in file ? file.path : createHash("sha256").update(file.bytes).digest("hex");
    (run.images[item.key] ??= []).push([step, content]);
  }
}

/** Returns the points of a run of `expected.json`, in which values that are not finite are texts. */
export function expectedPoints(points: Record<string, [number, Cell, number | null][]>): CollectedRun["points"] {
  const entries = Object.entries(points).map(([key, rows]) => [
    key,
    rows.map(([step, cell, time]) => [step, typeof cell === "string" ? Number(cell) : cell, time]),
  ]);
  return Object.fromEntries(entries) as CollectedRun["points"];
}
