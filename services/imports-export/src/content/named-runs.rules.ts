import { hash } from "node:crypto";
import type { Content } from "./content.rules.ts";

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

/** The same as columns: a hash, a place, and a 0 or 1 for each run. */
export type NamedRuns = { readonly hashes: Uint8Array; readonly places: Int32Array; readonly rich: Uint8Array };

/** Returns named runs as columns. */
export function flattenNamed(runs: readonly NamedRun[]): NamedRuns {
  const hashes = new Uint8Array(runs.length * HASH_BYTES);
  runs.forEach(({ sourceHash }, i) => hashes.set(sourceHash, i * HASH_BYTES));
  return {
    hashes,
    places: Int32Array.from(runs, ({ place }) => place),
    rich: Uint8Array.from(runs, ({ isRich }) => (isRich ? 1 : 0)),
  };
}

/** Returns at most `count` of the runs of columns, from one on. */
export function namedBetween({ hashes, places, rich }: NamedRuns, from: number, count: number): NamedRun[] {
  return Array.from(places.subarray(from, from + count), (place, i) => ({
    sourceHash: Buffer.from(hashes.subarray((from + i) * HASH_BYTES, (from + i + 1) * HASH_BYTES)),
    place,
    isRich: rich[from + i] === 1,
  }));
}

/** Bytes of these hashes. */
const HASH_BYTES = 16;

/** Returns 16 bytes that stand for the id of a run at its source, which may be long. */
export function hashSourceId(id: string): Buffer {
  return hash("sha256", id, "buffer").subarray(0, HASH_BYTES);
}

/** Returns 16 bytes that stand for a run of a source, independent of the job that contains it. */
export function hashIdentity(sourceType: string, sourceProject: string | null, sourceHash: Uint8Array): Buffer {
  const text = JSON.stringify([sourceType, sourceProject ?? sourceType, Buffer.from(sourceHash).toString("hex")]);
  return hash("sha256", text, "buffer").subarray(0, HASH_BYTES);
}
