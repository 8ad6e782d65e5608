import type { CompareRow } from "./compare-rows.ts";

/** Returns the lines of a comparison as CSV (RFC 4180), with every digit. */
export function compareCsv(names: readonly string[], rows: readonly CompareRow[]): string {
  const lines = [
    ["part", "key", ...names],
    ...rows.map(({ part, label, values }) => [part, label, ...values.map(plain)]),
  ];
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
