import type { DocumentColumn } from "@tidemark/values/run-search";
import { createPauses, nextTurn, stopIfOver } from "@tidemark/work";
import { parseExact, writeCanonical, type ExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { PAGE_BYTES_MAX } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { isObject, membersOf } from "../columns/column.rules.ts";
import { readColumnCells } from "../columns/read-columns.ts";
import { isLeftOut, type GroupBy } from "./grouping.rules.ts";
import { readGroupedRuns, readLoggedValues } from "../columns/config-values.sql.ts";

/** The values that runs are grouped by. */
export type GroupValues = {
  /** Names of the columns. */
  readonly columns: readonly string[];
  /** For each run, a value for each column, as JSON; empty: none. */
  readonly rows: readonly (readonly string[])[];
};

/** Maximum number of columns when grouping by all config keys. */
const CONFIG_KEYS_MAX = 1000;

/** Number of runs that are read at a time. */
const PORTION = 100;

/** Number of attribute paths that are read of each run. */
const LOGGED_PATHS_MAX = 1000;

/** Reads the values by which runs are grouped, at most 16 MiB in total. @throws bad_request with field `by` */
export function readGroupValues(tx: Tx, orgId: string, ids: readonly string[], by: GroupBy): Promise<GroupValues> {
  return by.kind === "named" ? readNamed(tx, orgId, ids, by) : readAllBut(tx, orgId, ids, by.paths);
}

async function readNamed(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  { names, columns }: Extract<GroupBy, { readonly kind: "named" }>,
): Promise<GroupValues> {
  if (columns.length === 0) return { columns: [], rows: ids.map(() => []) };
  const configs = columns.filter((column): column is DocumentColumn => column !== "tags");
  const bytes = countBytes();
  const rows: string[][] = [];
  while (rows.length < ids.length) {
    const some = ids.slice(rows.length, rows.length + PORTION);
    const found = await readGroupedRuns(tx, orgId, some, configs.length > 0);
    const runs = found.map(({ config }, i) => ({ id: some[i]!, config }));
    // A page of cells ends at its byte limit; the next portion begins after it.
    const cells =
      configs.length === 0 ? runs.map(() => ({ valuesJson: [] })) : await readColumnCells(tx, orgId, runs, configs);
    for (const [i, { valuesJson }] of cells.entries()) {
      const left = [...valuesJson];
      const row = columns.map((column) => (column === "tags" ? tagsJson(found[i]!.tags) : left.shift()!));
      bytes.add(row);
      rows.push(row);
    }
    await nextTurn();
  }
  return { columns: names, rows };
}

/** The set of tags, sorted; empty where there are none. */
function tagsJson(tags: readonly string[]): string {
  return tags.length === 0 ? "" : JSON.stringify([...new Set(tags)].toSorted());
}

async function readAllBut(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  leftOut: readonly string[],
): Promise<GroupValues> {
  const names = new Set<string>();
  const bytes = countBytes();
  const leaves = ids.map(() => new Map<string, string>());
  const put = (run: number, path: string, value: ExactJson): void => {
    const own = leaves[run]!;
    if (value === null || own.has(path) || isLeftOut(path, leftOut)) return;
    const json = writeCanonical(value);
    bytes.add([json]);
    own.set(path, json);
    names.add(path);
    if (names.size > CONFIG_KEYS_MAX)
      throw badRequest(
        `the configs of these runs have more than ${CONFIG_KEYS_MAX} keys; name those to group by`,
        "by",
      );
  };
  const pauseIfLong = createPauses();
  const putAll = async (run: number, config: ExactObject, prefix: string): Promise<void> => {
    for (const [path, value, isTooLong] of membersOf(config, prefix)) {
      if (isTooLong && !isLeftOut(path, leftOut))
        throw badRequest("the configs of these runs have longer keys than columns may; name those to group by", "by");
      if (!isTooLong) put(run, path, value);
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
  };
  for (let from = 0; from < ids.length; from += PORTION) {
    const some = ids.slice(from, from + PORTION);
    for (const [run, { config }] of (await readGroupedRuns(tx, orgId, some, true)).entries()) {
      await putAll(from + run, parseExact(config) as ExactObject, "");
    }
    const bounds = { pathsMax: LOGGED_PATHS_MAX, bytesMax: PAGE_BYTES_MAX };
    for (const [at, { run, path, value }] of (await readLoggedValues(tx, orgId, some, bounds)).entries()) {
      if (value === null) throw tooManyBytes();
      const name = path.slice("config/".length).replaceAll("/", ".");
      const logged = parseExact(value);
      if (isObject(logged)) await putAll(from + run, logged, `${name}.`);
      else put(from + run, name, logged);
      if (at % 1000 === 999) await nextTurn();
    }
    stopIfOver();
  }
  const paths = [...names].toSorted();
  const rows: string[][] = [];
  for (const own of leaves) {
    rows.push(paths.map((path) => own.get(path) ?? ""));
    if (rows.length % PORTION === 0) await nextTurn();
  }
  return { columns: paths.map((path) => `config.${path}`), rows };
}

function countBytes(): { readonly add: (values: readonly string[]) => void } {
  let bytes = 0;
  return {
    add(values) {
      for (const value of values) bytes += Buffer.byteLength(value);
      if (bytes > PAGE_BYTES_MAX) throw tooManyBytes();
    },
  };
}

function tooManyBytes() {
  return badRequest(
    `the values to group by have more than ${PAGE_BYTES_MAX / 1024 / 1024} MiB; name fewer or smaller ones`,
    "by",
  );
}
