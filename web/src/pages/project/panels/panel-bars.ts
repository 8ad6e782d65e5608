import type { Bar } from "../../../charts/kinds/bars.ts";
import { groupId, groupName } from "../../../charts/series/read-groups.ts";
import { groupRuns } from "../groups/run-groups.ts";
import type { TableRun } from "../runs/shown-runs.ts";

/** Returns the color of a run or group by the id of its line. */
type ColorOf = (id: string) => string;

/** Returns a bar for each run, in their order. */
export function barsOfRuns(runs: readonly TableRun[], column: string, colorOf: ColorOf): readonly Bar[] {
  return runs.map(({ id, name, columns }) => ({ id, name, color: colorOf(id), value: numberOf(columns?.[column]) }));
}

/** Returns a bar for each group of runs, the largest group first: the mean of the runs that have a number, and how far they spread. */
export function barsOfGroups(
  runs: readonly TableRun[],
  by: readonly string[],
  column: string,
  colorOf: ColorOf,
): readonly Bar[] {
  return groupRuns(runs, by, [column]).map(({ values, spreads }) => {
    const name = groupName(Object.fromEntries(by.map((one, i) => [one, values[i]])));
    const spread = spreads.get(column);
    return {
      id: groupId(name),
      name,
      color: colorOf(groupId(name)),
      value: spread?.mean ?? null,
      spread: spread === undefined ? undefined : { std: spread.std, count: spread.count },
    };
  });
}

function numberOf(value: unknown): number | null {
  // Two integers that a pixel cannot tell apart have one place.
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}
