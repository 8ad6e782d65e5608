import type { Statement } from "./statement.ts";

/** A statement with its values, as the driver takes it. */
export function queryOf({ name, text, planned, rows }: Statement, values: readonly unknown[]) {
  return {
    ...(planned === undefined ? { name } : {}),
    text,
    values: values as unknown[],
    // As arrays, because the driver copies each column of a binary row that it makes an object of.
    ...(rows === "binary" ? { binary: true, rowMode: "array" } : {}),
  };
}

/** The values of a row by the names of their columns. */
export function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
  return row;
}
