import type { Content } from "./content.rules.ts";
import { hashSourceId } from "./source-hash.rules.ts";

/** A run that a content defines or names. */
export type NamedRun = {
  readonly sourceHash: Buffer;
  /** Its place in the list of runs; -1: it is only named. */
  readonly place: number;
  /** Has attributes or artifacts. */
  readonly isRich: boolean;
};

/** Returns each run that a content defines or names, once. */
export function namedRunsOf({ runs, sources, attributes, artifacts }: Content): NamedRun[] {
  const rich = new Set<number>();
  for (const { source } of attributes) rich.add(source);
  for (const { source } of artifacts) rich.add(source);
  const named = new Map<string, { place: number; isRich: boolean }>();
  runs.forEach(({ id }, place) => {
    if (!named.has(id)) named.set(id, { place, isRich: false });
  });
  sources.forEach((id, source) => {
    const isRich = rich.has(source);
    const run = named.get(id);
    if (run === undefined) named.set(id, { place: -1, isRich });
    else run.isRich = isRich;
  });
  return [...named].map(([id, run]) => ({ sourceHash: hashSourceId(id), ...run }));
}
