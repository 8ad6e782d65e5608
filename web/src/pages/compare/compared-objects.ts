import type { RichObject } from "../../media/steps.ts";

/** Objects that runs logged under a key, in the order of the runs; none for a run that has not logged it. */
export type ComparedObjects = { readonly key: string; readonly ofRuns: readonly (readonly RichObject[])[] };

/** Returns a row for each key that a run has, in the order of the names. */
export function comparedObjects(
  runIds: readonly string[],
  byRun: ReadonlyMap<string, readonly RichObject[]>,
): readonly ComparedObjects[] {
  const byKey = runIds.map((id) => Map.groupBy(byRun.get(id) ?? [], ({ key }) => key));
  const keys = new Set(byKey.flatMap((groups) => [...groups.keys()]));
  return [...keys]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key) => ({ key, ofRuns: byKey.map((groups) => groups.get(key) ?? []) }));
}
