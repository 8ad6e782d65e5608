import { encodeLine, LINE_LENGTHS_MAX } from "@tidemark/archive";
import {
  HISTOGRAM_COUNTS_MAX,
  OBJECT_DOCUMENT_BYTES_MAX,
  OBJECT_VALUE_BYTES_MAX,
  TABLE_COLUMNS_MAX,
  TABLE_ROW_BYTES_MAX,
  TABLE_ROWS_MAX,
} from "@tidemark/limits";
import type { AttributeItem, JsonObject, ObjectItem } from "@tidemark/import-formats";
import type { Warnings } from "../terminal/warnings.ts";
import { documentOf, instantOf, keyOf, microsOf } from "./texts.ts";

/** The fields that a line of an attribute or an object gets in addition to its item. */
export type Place = {
  readonly runId: string;
  /** The next number of its kind in the archive. */
  readonly id: number;
  /** Of what has no time, in microseconds. */
  readonly created: number;
  readonly warnings: Warnings;
};

const timeOf = (time: number | undefined, created: number): string => instantOf(microsOf(time) || created);

function stepOf(step: number | undefined): number | undefined {
  return step !== undefined && step >= 0 ? step : undefined;
}

/** Writes an attribute; undefined where it cannot be stored, which is counted. */
export function attributeLine(item: AttributeItem, { runId, id, created, warnings }: Place): string | undefined {
  const path = keyOf(item.path);
  const value = documentOf(item.value);
  if (path === undefined || Buffer.byteLength(value) > 1024 * 1024) {
    warnings.add("attributes whose path or value is too long", item.path.slice(0, 100));
    return undefined;
  }
  const at = timeOf(item.time, created);
  return encodeLine({
    line: "attribute",
    id,
    run_id: runId,
    path,
    attribute_type: item.type,
    step: stepOf(item.step),
    logged_at: at,
    value,
    summary: "{}",
    created_at: at,
    artifact_id: undefined,
  });
}

/** Writes an object, with the rows of a table. A medium names its artifact. Undefined where it cannot be stored, which is counted. */
export function objectLines(item: ObjectItem, place: Place, artifactId: string | undefined): string | undefined {
  const { runId, id, created, warnings } = place;
  const key = keyOf(item.key);
  const rows = item.object === "table" ? tableRows(item.key, item.rows, warnings) : [];
  const metadata = boundedDocument(item.metadata ?? {});
  const value = valueOf(item, metadata);
  if (key === undefined || value === undefined) {
    warnings.add(`${item.object}s that are too large, or whose key is`, item.key.slice(0, 100));
    return undefined;
  }
  const columns = item.object === "table" ? Object.keys(item.rows[0] ?? {}) : [];
  const head = encodeLine({
    line: "object",
    id,
    run_id: runId,
    key,
    kind: item.object,
    step: stepOf(item.step),
    artifact_id: artifactId,
    value,
    metadata,
    summary: item.object === "table" ? boundedDocument({ row_count: rows.length, columns }) : "{}",
    created_at: timeOf(item.time, created),
  });
  const parts = Array.from({ length: Math.ceil(rows.length / LINE_LENGTHS_MAX.rows) }, (_, i) =>
    encodeLine({
      line: "object.rows",
      id,
      rows: rows.slice(i * LINE_LENGTHS_MAX.rows, (i + 1) * LINE_LENGTHS_MAX.rows),
    }),
  );
  return head + parts.join("");
}

/** Media have the value of their artifact, histograms their numbers, tables their metadata. */
function valueOf(item: ObjectItem, metadata: string): string | undefined {
  if (item.object === "table") return `{"kind":"table","metadata":${metadata}}`;
  if (item.object !== "histogram") return "{}";
  if (item.value.counts.length > HISTOGRAM_COUNTS_MAX || item.value.counts.length === 0) return undefined;
  const value = documentOf({ bins: item.value.bins, counts: item.value.counts });
  return Buffer.byteLength(value) > OBJECT_VALUE_BYTES_MAX ? undefined : value;
}

function tableRows(key: string, rows: readonly JsonObject[], warnings: Warnings): string[] {
  const documents = rows.slice(0, TABLE_ROWS_MAX).flatMap((row) => {
    const text = documentOf(row);
    const isSmall = Object.keys(row).length <= TABLE_COLUMNS_MAX && Buffer.byteLength(text) <= TABLE_ROW_BYTES_MAX;
    return isSmall ? [text] : [];
  });
  warnings.add("rows of tables beyond the bounds of a table", key.slice(0, 100), rows.length - documents.length);
  return documents;
}

function boundedDocument(value: JsonObject): string {
  const text = documentOf(value);
  return Buffer.byteLength(text) > OBJECT_DOCUMENT_BYTES_MAX ? "{}" : text;
}
