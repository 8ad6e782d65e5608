import { safePath, type FileTree, joinPath } from "../file-tree.ts";
import { histogramOf } from "../histogram.ts";
import type { Item, JsonObject, JsonValue, ObjectItem } from "../items.ts";
import { isObject, numberOf, numbersOf, readPythonJson, jsonObject } from "../json.ts";
import { readTextFile } from "../text-files.ts";
import type { Warnings } from "../warnings.ts";
import { TABLE_COLUMNS_MAX, TABLE_ROWS_MAX } from "@tidemark/limits";

/** Context for reading a history value that has a `_type`. */
export type MediaReader = {
  readonly run: string;
  readonly tree: FileTree;
  /** The folder `files` of the run in the tree. */
  readonly filesFolder: string;
  readonly warnings: Warnings;
};

/** Where a value was logged. */
export type MediaPlace = { readonly key: string; readonly step: number; readonly time?: number };

/** Most bytes of a table that is read. */
const TABLE_BYTES_MAX = 16 * 1024 * 1024;

const fileObjects: ReadonlyMap<string, "image" | "audio" | "video"> = new Map([
  ["image-file", "image"],
  ["audio-file", "audio"],
  ["video-file", "video"],
]);

/** Lists of files: the member that lists them, and what they are. */
const listObjects: ReadonlyMap<string, { member: string; object: "image" | "audio" | "video" }> = new Map([
  ["images/separated", { member: "filenames", object: "image" }],
  ["audio", { member: "audio", object: "audio" }],
  ["videos", { member: "videos", object: "video" }],
]);

/** Yields the objects that a value with a `_type` represents; other types are counted. */
export async function* readMedia(reader: MediaReader, place: MediaPlace, value: JsonObject): AsyncGenerator<Item> {
  const { warnings } = reader;
  const type = typeof value["_type"] === "string" ? value["_type"] : "";
  const object = fileObjects.get(type);
  const list = listObjects.get(type);
  if (type === "histogram") {
    const histogram = histogramOf(edgesOf(value), numbersOf(value["values"]));
    if (histogram === undefined) warnings.add("malformed_value", place.key);
    else yield { kind: "object", run: reader.run, object: "histogram", ...place, value: histogram };
  } else if (object !== undefined) {
    yield* readFile(reader, place, object, value["path"], value);
  } else if (list !== undefined) yield* readList(reader, place, list, value);
  else if (type === "table-file") yield* readTable(reader, place, value);
  else warnings.add("unsupported", `${place.key}: ${type}`);
}

/** Edges are listed, or are lowest edge, width and number of bins. */
function edgesOf(value: JsonObject): number[] {
  const packed = value["packedBins"];
  if (!isObject(packed)) return numbersOf(value["bins"]);
  const [min, size, count] = [numberOf(packed["min"]), numberOf(packed["size"]), numberOf(packed["count"])];
  const values = numbersOf(value["values"]);
  if (min === undefined || size === undefined || count !== values.length) return [];
  return Array.from({ length: count + 1 }, (_, i) => min + i * size);
}

function* readFile(
  { run, filesFolder, warnings }: MediaReader,
  place: MediaPlace,
  object: "image" | "audio" | "video",
  sentPath: JsonValue | undefined,
  value: JsonObject,
): Generator<ObjectItem> {
  const path = typeof sentPath === "string" ? safePath(sentPath) : undefined;
  if (path === undefined) return warnings.add("unsafe_path", place.key);
  const { width, height, caption, size, format } = value;
  const metadata = Object.entries({ width, height, caption }).filter(
    (entry): entry is [string, string | number] => typeof entry[1] === "number" || typeof entry[1] === "string",
  );
  const file = {
    path: joinPath(filesFolder, path),
    ...(typeof size === "number" ? { size } : {}),
    ...(typeof format === "string" && object === "image" ? { mimeType: `image/${format.toLowerCase()}` } : {}),
  };
  const described = metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) };
  yield { kind: "object", run, object, ...place, ...described, file };
}

function* readList(
  reader: MediaReader,
  place: MediaPlace,
  { member, object }: { member: string; object: "image" | "audio" | "video" },
  value: JsonObject,
): Generator<ObjectItem> {
  const entries = value[member];
  if (!Array.isArray(entries)) return reader.warnings.add("malformed_value", place.key);
  const captions: JsonValue = value["captions"] ?? [];
  for (const [i, entry] of (entries as readonly JsonValue[]).entries()) {
    const own = isObject(entry) ? entry : {};
    const path = typeof entry === "string" ? entry : own["path"];
    const caption = Array.isArray(captions) ? (captions[i] as JsonValue | undefined) : undefined;
    const { width, height, format } = value;
    const described = {
      width: width ?? null,
      height: height ?? null,
      format: format ?? null,
      caption: caption ?? null,
    };
    const key = entries.length === 1 ? place.key : `${place.key}/${i}`;
    yield* readFile(reader, { ...place, key }, object, path, { ...described, ...own });
  }
}

/** Reads the rows of a table, which are in a separate file. */
async function* readTable(reader: MediaReader, place: MediaPlace, value: JsonObject): AsyncGenerator<ObjectItem> {
  const { run, tree, filesFolder, warnings } = reader;
  const path = typeof value["path"] === "string" ? safePath(value["path"]) : undefined;
  if (path === undefined) return warnings.add("unsafe_path", place.key);
  const folder = joinPath(filesFolder, path.split("/").slice(0, -1).join("/"));
  const name = path.split("/").at(-1)!;
  const found = (await tree.list(folder)).some((entry) => entry.name === name && !entry.isFolder);
  if (!found) return warnings.add("missing", path);
  const text = await readTextFile(tree, joinPath(folder, name), TABLE_BYTES_MAX);
  if (text === undefined) return warnings.add("too_large", path);
  const content = readPythonJson(text);
  const table = isObject(content) ? tableOf(content["columns"], content["data"]) : undefined;
  if (table === undefined) return warnings.add("malformed_value", path);
  const { rows, total } = table;
  if (rows.length < total) warnings.add("too_large", `${path}: rows of a table`, total - rows.length);
  yield { kind: "object", run, object: "table", ...place, metadata: { row_count: total }, rows };
}

/** The rows of a table that an object holds, and how many there are altogether. */
type TableRows = { readonly rows: readonly JsonObject[]; readonly total: number };

/**
 * Returns a table of named columns and lists of cells, cut to the rows and columns that an object may have; undefined where the values are not of that form.
 * Columns without a name have their number.
 */
function tableOf(columns: JsonValue | undefined, data: JsonValue | undefined): TableRows | undefined {
  if (!Array.isArray(columns) || !Array.isArray(data) || !data.every(Array.isArray)) return undefined;
  const names = columns.slice(0, TABLE_COLUMNS_MAX).map((name) => (typeof name === "string" ? name : String(name)));
  const rows = (data as readonly (readonly JsonValue[])[])
    .slice(0, TABLE_ROWS_MAX)
    .map((cells) => jsonObject(names.map((name, i) => [name, cells[i] ?? null] as const)));
  return { rows, total: data.length };
}
