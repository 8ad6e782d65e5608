import { readColumn, type DocumentColumn } from "@tidemark/values/run-search";
import { exactDecimal, parseExact, writeCanonical } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { GROUP_NAMES_MAX } from "@tidemark/limits";
import type { GroupColumns } from "@tidemark/proto/runs/v1/runs";

/** Runs with the same values. */
export type Group = {
  /** For each column, the value of the first run as JSON; empty: none. */
  readonly values: readonly string[];
  /** The places of the runs, in the order in which they were added. */
  readonly runs: readonly number[];
};

/** Puts runs into groups. */
type Grouping = {
  /** Adds the next run by its values, and returns how many groups there are. */
  readonly add: (values: readonly string[]) => number;
  /** Returns the groups: those with more runs first, then by their values, column by column. */
  readonly groups: () => readonly Group[];
};

/**
 * Creates a grouping. Values are equal when their JSON is, regardless of number notation and key order. By value, numbers come first in
 * ascending order, then all other values by their JSON, then missing values.
 */
export function createGrouping(): Grouping {
  const groups = new Map<string, { readonly values: readonly string[]; readonly runs: number[] }>();
  let runs = 0;
  return {
    add(values) {
      const key = JSON.stringify(values.map(comparable));
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = { values, runs: [] }));
      group.runs.push(runs);
      runs += 1;
      return groups.size;
    },
    groups: () =>
      [...groups.values()].toSorted((a, b) => b.runs.length - a.runs.length || compareRows(a.values, b.values)),
  };
}

function comparable(json: string): string {
  return json === "" ? "" : writeCanonical(parseExact(json), exactDecimal);
}

function compareRows(a: readonly string[], b: readonly string[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareValues(value, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: string, b: string): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  const numbers = rankOf(a) === 0 ? Number(a) - Number(b) : 0;
  if (numbers !== 0) return numbers;
  return a === b ? 0 : a < b ? -1 : 1;
}

function rankOf(json: string): 0 | 1 | 2 {
  if (json === "") return 2;
  return /^[-\d]/.test(json) ? 0 : 1;
}

/** The columns that runs are grouped by. */
export type GroupBy =
  | {
      readonly kind: "named";
      readonly columns: readonly (DocumentColumn | "tags")[];
      readonly names: readonly string[];
    }
  | { readonly kind: "all but"; readonly paths: readonly string[] };

/** Reads the columns that runs are grouped by. @throws bad_request with field `by` */
export function readGroupBy({ names, allBut }: Pick<GroupColumns, "names" | "allBut">): GroupBy {
  if (names.length > GROUP_NAMES_MAX || new Set(names).size < names.length)
    throw badRequest(`by must have at most ${GROUP_NAMES_MAX} different names`, "by");
  if (allBut) return { kind: "all but", paths: names.map((name) => configColumn(name).path) };
  return { kind: "named", names, columns: names.map((name) => (name === "tags" ? name : configColumn(name))) };
}

function configColumn(name: string): DocumentColumn {
  const column = readColumn(name);
  if (column?.kind !== "config") throw badRequest("by must name config.<path> or tags; except config.<path>", "by");
  return { kind: "config", path: column.path };
}

/** Returns whether a path is left out or is below a path that is. */
export function isLeftOut(path: string, leftOut: readonly string[]): boolean {
  return leftOut.some((own) => path === own || path.startsWith(`${own}.`));
}
