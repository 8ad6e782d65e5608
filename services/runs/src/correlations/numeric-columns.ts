import { columnName, type Column, type DocumentColumn, type MetricColumn } from "@tidemark/values/run-search";
import type { ExactObject } from "@tidemark/documents";
import type { Tx } from "@tidemark/pg";
import { createPauses, nextTurn } from "@tidemark/work";
import { attributePaths, configValueAt, membersOf } from "../columns/column.rules.ts";
import { readAttributeValues, readFigures } from "../columns/column-values.sql.ts";
import { readConfigs, readLoggedNumbers } from "../columns/config-values.sql.ts";

/** A column of numbers, one for each run; NaN where a run has none. */
export type NumericColumn = { readonly name: string; readonly numbers: Float64Array };

/** Number of runs read at a time: their configs have at most about 100 MB. */
const PORTION = 100;

/** Number of attribute paths that are read of each run. */
const LOGGED_PATHS_MAX = 1000;

/** Longest text of a number. */
const NUMBER_BYTES_MAX = 400;

type Portion = { readonly tx: Tx; readonly orgId: string; readonly ids: readonly string[]; readonly from: number };

async function inPortions(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  read: (portion: Portion) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < ids.length; from += PORTION) {
    await read({ tx, orgId, ids: ids.slice(from, from + PORTION), from });
    await nextTurn();
  }
}

const emptyColumn = (runs: number): Float64Array => new Float64Array(runs).fill(Number.NaN);

/** Reads named columns of runs as numbers; texts do not count as numbers. */
export async function readNumericColumns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  columns: readonly Column[],
): Promise<NumericColumn[]> {
  const named = columns.map((column) => ({ column, name: columnName(column), numbers: emptyColumn(ids.length) }));
  const metrics = named.flatMap(({ column, numbers }) => (column.kind === "metrics" ? [{ column, numbers }] : []));
  const documents = named.flatMap(({ column, numbers }) => (column.kind === "metrics" ? [] : [{ column, numbers }]));
  await inPortions(tx, orgId, ids, async (portion) => {
    if (metrics.length > 0) await readMetrics(portion, metrics);
    if (documents.length > 0) await readDocuments(portion, documents);
  });
  return named.map(({ name, numbers }) => ({ name, numbers }));
}

type Target<Of> = { readonly column: Of; readonly numbers: Float64Array };

async function readMetrics({ tx, orgId, ids, from }: Portion, targets: readonly Target<MetricColumn>[]): Promise<void> {
  const keys = [...new Set(targets.map(({ column }) => column.key))];
  const runs = await readFigures(tx, orgId, ids, keys);
  for (const [run, figures] of runs.entries()) {
    const placeOf = new Map(figures.places.map((place, at) => [keys[place], at]));
    for (const { column, numbers } of targets) {
      const at = placeOf.get(column.key);
      if (at !== undefined) numbers[from + run] = figures[column.figure][at]!;
    }
  }
}

async function readDocuments(
  { tx, orgId, ids, from }: Portion,
  targets: readonly Target<DocumentColumn>[],
): Promise<void> {
  const paths = [...new Set(targets.flatMap(({ column }) => attributePaths(column)))];
  const bounds = { valueBytesMax: NUMBER_BYTES_MAX, bytesMax: Number.MAX_SAFE_INTEGER };
  const logged = ids.map(() => new Map<string, string | null>());
  for (const { run, place, value } of await readAttributeValues(tx, orgId, ids, paths, bounds))
    logged[run]?.set(paths[place]!, value);
  const configs = targets.some(({ column }) => column.kind === "config") ? await readConfigs(tx, orgId, ids) : [];
  for (const run of ids.keys()) {
    const config: unknown = JSON.parse(configs[run] ?? "{}");
    for (const { column, numbers } of targets) {
      let value: unknown = column.kind === "config" ? configValueAt(config as never, column.path) : undefined;
      if (value === undefined) {
        const text = attributePaths(column)
          .map((path) => logged[run]?.get(path))
          .find((found) => found !== undefined);
        value = text === undefined || text === null ? undefined : JSON.parse(text);
      }
      if (typeof value === "number") numbers[from + run] = value;
    }
    await nextTurn();
  }
}

/**
 * Reads all numbers of the configs of runs whose names a column may have, and those that `log_config` wrote: for each run, the config takes
 * precedence.
 */
export async function readConfigNumbers(tx: Tx, orgId: string, ids: readonly string[]): Promise<NumericColumn[]> {
  const columns = new Map<string, Float64Array>();
  const put = (name: string, run: number, value: number): void => {
    let numbers = columns.get(name);
    if (numbers === undefined) {
      // Later names are in fewer runs, or the configs have nothing in common.
      if (columns.size === NAMES_MAX) return;
      columns.set(name, (numbers = emptyColumn(ids.length)));
    }
    if (Number.isNaN(numbers[run])) numbers[run] = value;
  };
  const pauseIfLong = createPauses();
  await inPortions(tx, orgId, ids, async ({ ids: some, from }) => {
    for (const [run, config] of (await readConfigs(tx, orgId, some)).entries()) {
      for (const [name, value, isTooLong] of membersOf(JSON.parse(config) as ExactObject)) {
        if (!isTooLong && typeof value === "number") put(name, from + run, value);
        const pause = pauseIfLong();
        if (pause !== undefined) await pause;
      }
    }
    for (const { run, path, number } of await readLoggedNumbers(tx, orgId, some, LOGGED_PATHS_MAX))
      put(path.slice("config/".length).replaceAll("/", "."), from + run, number);
  });
  return [...columns].map(([name, numbers]) => ({ name: `config.${name}`, numbers }));
}

/** Number of config names kept during the read: 80 kB each for the maximum number of runs. */
const NAMES_MAX = 1000;
