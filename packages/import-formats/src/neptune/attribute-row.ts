import type { JsonValue } from "../items.ts";
import { jsonInteger, jsonNumber } from "../json.ts";

/** A row of an export: one value of an attribute, at a step if it is of a series. Times in milliseconds since 1970. */
export type AttributeRow = {
  readonly project: string;
  readonly run: string;
  readonly path: string;
  readonly type: string;
  readonly step: number | undefined;
  readonly time: number;
  /** The value of a type that JSON has: number, text, truth, time as text, or set of texts. */
  readonly value: JsonValue | undefined;
  readonly number: number | undefined;
  readonly filePath: string | undefined;
  readonly histogram: { readonly edges: readonly number[]; readonly values: readonly number[] } | undefined;
};

/** Steps are decimals with six digits after the point, which arrive as products of a double. */
const STEP_SCALE = 1_000_000;

/** Reads a row of neptune-exporter (its `model.py`); undefined without the columns that every row has. */
export function readAttributeRow(row: Readonly<Record<string, unknown>>): AttributeRow | undefined {
  const [project, run, path, type] = ["project_id", "run_id", "attribute_path", "attribute_type"].map(
    (name) => row[name],
  );
  if (typeof project !== "string" || typeof run !== "string" || typeof path !== "string" || typeof type !== "string") {
    return undefined;
  }
  const step = numberAt(row, "step");
  const number = numberAt(row, "float_value") ?? numberAt(row, "int_value");
  return {
    project,
    run,
    path,
    type,
    step: step === undefined ? undefined : Math.round(step * STEP_SCALE) / STEP_SCALE,
    time: timeOf(row["timestamp"]),
    number,
    value: valueOf(row, number),
    filePath: textAt(row["file_value"], "path"),
    histogram: histogramAt(row["histogram_value"]),
  };
}

function numberAt(row: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = row[name];
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

function valueOf(row: Readonly<Record<string, unknown>>, number: number | undefined): JsonValue | undefined {
  const { int_value: integer } = row;
  if (number !== undefined) {
    return typeof integer === "bigint" && numberAt(row, "float_value") === undefined
      ? jsonInteger(integer)
      : jsonNumber(number);
  }
  const { string_value: text, bool_value: truth, datetime_value: instant, string_set_value: set } = row;
  if (typeof text === "string") return text;
  if (typeof truth === "boolean") return truth;
  const time = timeOf(instant);
  if (Number.isFinite(time)) return new Date(time).toISOString();
  return Array.isArray(set) ? set.filter((member): member is string => typeof member === "string") : undefined;
}

/** Returns the milliseconds of a time; NaN where there is none, or one that a date does not hold. */
function timeOf(value: unknown): number {
  return isDate(value) ? value.getTime() : Number.NaN;
}

/** Recognizes a date by its shape: under a test runner it may belong to another realm. */
function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === "[object Date]";
}

function textAt(value: unknown, name: string): string | undefined {
  const text = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof text === "string" ? text : undefined;
}

function histogramAt(value: unknown): AttributeRow["histogram"] {
  if (typeof value !== "object" || value === null) return undefined;
  const { edges, values } = value as Record<string, unknown>;
  return Array.isArray(edges) && Array.isArray(values)
    ? { edges: edges.map(Number), values: values.map(Number) }
    : undefined;
}
