import { type FileTree, type TreePath, walkFolders, type WalkedFolder } from "../file-tree.ts";
import type { Item, JsonObject, JsonValue, RunItem } from "../items.ts";
import { isObject, JSON_DEPTH_MAX, jsonObject, readPythonJson, boundedJson } from "../json.ts";
import { completeLines, readTextFile, readPointFloat, readPythonFloat } from "../text-files.ts";
import { createPointBatches } from "../point-batches.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { parse } from "yaml";

/** Most bytes of a line of a metric. */
const LINE_BYTES_MAX = 64 * 1024;

/** Most bytes of a `metrics.json`. */
const SUMMARY_BYTES_MAX = 1024 * 1024;

/** Returns whether a file shows a run of DVCLive, by the names in its folder. */
export function showsDvclive(name: string, names: ReadonlySet<string>): boolean {
  return name === "params.yaml" || (name === "metrics.json" && names.has("plots"));
}

type File = WalkedFolder["files"][number];

/**
 * Reads the runs of DVCLive below a folder: each folder that has `metrics.json` or `params.yaml` is one, and its id is its path (`.`: the root). DVCLive does
 * not say how a run ended; it counts as finished.
 */
export async function* readDvclive(tree: FileTree): AsyncGenerator<Item> {
  const warnings = createWarnings();
  const roots: TreePath[] = [];
  for await (const { path, files } of walkFolders(tree, warnings)) {
    const isInRun = roots.some((root) => root === "" || path.startsWith(`${root}/`));
    if (isInRun || !files.some(({ name }) => name === "metrics.json" || name === "params.yaml")) continue;
    roots.push(path);
    yield* readRun(tree, path);
  }
  yield* warnings.take();
}

async function* readRun(tree: FileTree, root: TreePath): AsyncGenerator<Item> {
  const run = root === "" ? "." : root;
  const warnings = createWarnings(run);
  const item = (fields: Partial<RunItem>): RunItem => ({ kind: "run", run, source: "dvclive", ...fields });
  yield item({ name: run, status: "running" });
  const keys = new Set<string>();
  const span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
  let [config, summary]: [JsonObject, JsonObject] = [{}, {}];
  for await (const { files } of walkFolders(tree, warnings, root)) {
    for (const file of files) {
      const name = root === "" ? file.path : file.path.slice(root.length + 1);
      const metric = /^plots\/metrics\/(.+)\.[ct]sv$/.exec(name)?.[1];
      const image = /^plots\/images\/(.+)$/.exec(name)?.[1];
      if (metric !== undefined) {
        keys.add(metric);
        yield* readMetric({ tree, run, file, key: metric, warnings, span });
      } else if (image !== undefined) yield imageItem(run, image, file);
      else if (name === "params.yaml") {
        config = (await readDocument(tree, file, PARAMS_BYTES_MAX, readParamsFile, warnings)) ?? {};
      } else if (name === "metrics.json") {
        summary = (await readDocument(tree, file, SUMMARY_BYTES_MAX, readPythonJson, warnings)) ?? {};
      } else yield { kind: "file", run, name, size: file.size, path: file.path };
    }
  }
  const own = summaryOf(summary, keys);
  yield item({
    status: "finished",
    config,
    ...(Number.isFinite(span.first) ? { startedAt: span.first, finishedAt: span.last } : {}),
    ...(Object.keys(own).length === 0 ? {} : { metadata: { summary: own } }),
  });
  yield* warnings.take();
}

type MetricFile = {
  readonly tree: FileTree;
  readonly run: string;
  readonly file: File;
  readonly key: string;
  readonly warnings: Warnings;
  readonly span: { first: number; last: number };
};

/** Reads a table with a line of names: `step`, perhaps `timestamp` in milliseconds, and the key. Values that are not numbers are texts. */
async function* readMetric({ tree, run, file, key, warnings, span }: MetricFile): AsyncGenerator<Item> {
  const points = createPointBatches(run, warnings);
  const separator = file.name.endsWith(".csv") ? "," : "\t";
  let names: string[] | undefined;
  for await (const line of completeLines(tree.read(file.path), LINE_BYTES_MAX, warnings, key)) {
    const cells = cellsOf(line.replace(/\r$/, ""), separator);
    if (names === undefined) {
      names = cells;
      continue;
    }
    const cell = (name: string): string => cells[names!.indexOf(name)] ?? "";
    const [step, time] = [readPointFloat(cell("step"), key, warnings), readPythonFloat(cell("timestamp"))];
    const at = names.findIndex((name) => name !== "step" && name !== "timestamp");
    const text = cells[at];
    if (text === undefined || step === undefined || cells.length !== names.length) {
      warnings.add("malformed_value", key);
      continue;
    }
    if (time !== undefined && Number.isFinite(time)) {
      span.first = Math.min(span.first, time);
      span.last = Math.max(span.last, time);
    }
    const value = readPointFloat(text, key, warnings);
    const sent = time === undefined ? {} : { time };
    if (value !== undefined) points.add(key, step, value, time);
    else yield { kind: "attribute", run, path: key, type: "string_series", step, ...sent, value: text };
    yield* points.full();
  }
  yield* points.rest();
}

/** Takes a line apart; a cell in quotation marks has them doubled inside. A line break in a cell ends it. */
function cellsOf(line: string, separator: string): string[] {
  return line.split(separator).map((cell) => (/^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

/** An image of a series is in the folder of its key, and its name is the step. */
function imageItem(run: string, name: string, { path, size }: File): Item {
  const series = /^(.+)\/(\d{1,15})\.[^./]+$/.exec(name);
  const key = series === null ? name : series[1]!;
  const step = series === null ? {} : { step: Number(series[2]) };
  return { kind: "object", run, object: "image", key, ...step, file: { path, size } };
}

async function readDocument(
  tree: FileTree,
  { path, name }: File,
  bytesMax: number,
  read: (text: string) => JsonValue | undefined,
  warnings: Warnings,
): Promise<JsonObject | undefined> {
  const text = await readTextFile(tree, path, bytesMax);
  const content = text === undefined ? undefined : read(text);
  if (isObject(content)) return content;
  warnings.add(text === undefined ? "too_large" : "damaged", name);
  return undefined;
}

/** Returns what `metrics.json` says of keys that have no points: the keys of the file are split at their slashes. */
function summaryOf(summary: JsonObject, keys: ReadonlySet<string>): JsonObject {
  const own: [string, JsonValue][] = [];
  const visit = (values: JsonObject, prefix: string, depth: number): void => {
    for (const [name, value] of Object.entries(values)) {
      const key = prefix === "" ? name : `${prefix}/${name}`;
      if (isObject(value) && depth < JSON_DEPTH_MAX) visit(value, key, depth + 1);
      else if (key !== "step" && !keys.has(key)) own.push([key, value]);
    }
  };
  visit(summary, "", 0);
  return jsonObject(own);
}

/** Most bytes of a `params.yaml`. */
const PARAMS_BYTES_MAX = 64 * 1024;

/** Reads a `params.yaml`; undefined if it is not YAML or not a map. */
function readParamsFile(text: string): JsonObject | undefined {
  try {
    const content = boundedJson(parse(text, { schema: "core", intAsBigInt: true, logLevel: "error" }) as JsonValue);
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}
