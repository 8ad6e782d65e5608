import type { Column, DocumentColumn, MetricColumn } from "@tidemark/values/run-search";
import { parseExact, writeCanonical, type ExactJson } from "@tidemark/documents";
import { PAGE_BYTES_MAX } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { createPauses, nextTurn } from "@tidemark/work";
import { attributePaths, configValueAt, isCertainlyLonger } from "./column.rules.ts";
import { readAttributeValues, readFigures } from "./column-values.sql.ts";

/** A value with more bytes of JSON is not shown in a table. */
export const CELL_BYTES_MAX = 65_536;

/** Parsing of configs takes turns with other work: this many characters take some milliseconds. */
const TURN_CHARS = 262_144;

/** A run whose columns are read. `config` is compact JSON. */
type TableRun = { readonly id: string; readonly config: string };

/** The values of columns of a run, as JSON, empty where it has none, and the places of those of metrics that are not finite. */
type Cells = { readonly valuesJson: string[]; readonly nonFinite: number[] };

/**
 * Returns the values of columns of runs. A latest value is not finite where a newer one is NaN or infinite, other figures where no value is finite. The cells of a page have at most `PAGE_BYTES_MAX` bytes: of the runs
 * after that limit, nothing is returned; the first run is always returned.
 */
export async function readColumnCells(
  tx: Tx,
  orgId: string,
  runs: readonly TableRun[],
  columns: readonly Column[],
): Promise<Cells[]> {
  if (columns.length === 0 || runs.length === 0) return [];
  const ids = runs.map(({ id }) => id);
  const metrics = await metricCells(
    tx,
    orgId,
    ids,
    columns.filter((column) => column.kind === "metrics"),
  );
  const documents = columns.filter((column) => column.kind !== "metrics");
  const attributes = await attributeCells(tx, orgId, ids, documents);

  const cellOf = (index: number, column: Column, config: ExactJson): string => {
    if (column.kind === "metrics") return metrics.cellOf(index, column);
    const value = column.kind === "config" ? configValueAt(config, column.path) : undefined;
    if (value === undefined) return attributes.cellOf(index, column);
    if (value === null || isCertainlyLonger(value, CELL_BYTES_MAX)) return "";
    const text = writeCanonical(value);
    return Buffer.byteLength(text) > CELL_BYTES_MAX ? "" : text;
  };

  const pauseIfLong = createPauses();
  const rows: Cells[] = [];
  let bytes = 0;
  let parsed = 0;
  const hasConfigs = documents.some(({ kind }) => kind === "config");
  for (const [index, run] of runs.entries()) {
    if (index > 0 && index >= attributes.runsRead) break;
    if (hasConfigs && (parsed += run.config.length) > TURN_CHARS) {
      parsed = 0;
      await nextTurn();
    }
    const config = hasConfigs ? parseExact(run.config) : null;
    const row: string[] = [];
    for (const column of columns) {
      row.push(cellOf(index, column, config));
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
    bytes += row.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0);
    if (index > 0 && bytes > PAGE_BYTES_MAX) break;
    const isNonFinite = (column: Column): boolean => column.kind === "metrics" && metrics.isNonFinite(index, column);
    rows.push({
      valuesJson: row,
      nonFinite: columns.flatMap((column, place) => (isNonFinite(column) ? [place] : [])),
    });
  }
  return rows;
}

async function metricCells(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  columns: readonly MetricColumn[],
): Promise<{
  readonly cellOf: (run: number, column: MetricColumn) => string;
  readonly isNonFinite: (run: number, column: MetricColumn) => boolean;
}> {
  if (columns.length === 0) return { cellOf: () => "", isNonFinite: () => false };
  const keys = [...new Set(columns.map(({ key }) => key))];
  const placeOf = new Map(keys.map((key, place) => [key, place]));
  const runs = await readFigures(tx, orgId, ids, keys);
  const at = (run: number, key: string): number => runs[run]?.places.indexOf(placeOf.get(key) ?? -1) ?? -1;
  return {
    cellOf: (run, { key, figure }) => {
      const value = runs[run]?.[figure][at(run, key)];
      return value === undefined || !Number.isFinite(value) ? "" : JSON.stringify(value);
    },
    isNonFinite: (run, { key, figure }) => {
      const place = at(run, key);
      if (runs[run]?.isNonFinite[place] !== 1 || figure === "count") return false;
      return figure === "latest" || runs[run].count[place] === 0;
    },
  };
}

async function attributeCells(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  columns: readonly DocumentColumn[],
): Promise<{ readonly runsRead: number; readonly cellOf: (run: number, column: DocumentColumn) => string }> {
  if (columns.length === 0) return { runsRead: ids.length, cellOf: () => "" };
  const paths = [...new Set(columns.flatMap(attributePaths))];
  const placeOf = new Map(paths.map((path, place) => [path, place]));
  const bounds = { valueBytesMax: CELL_BYTES_MAX, bytesMax: PAGE_BYTES_MAX };
  const values = await readAttributeValues(tx, orgId, ids, paths, bounds);
  const cells = ids.map(() => new Map<number, string>());
  for (const { run, place, value } of values) cells[run]?.set(place, value === null || value === "null" ? "" : value);
  return {
    runsRead: values.find(({ isBeyond }) => isBeyond)?.run ?? ids.length,
    cellOf: (run, column) => {
      const found = attributePaths(column).map((path) => cells[run]?.get(placeOf.get(path) ?? -1));
      return found.find((cell) => cell !== undefined) ?? "";
    },
  };
}
