import { expect } from "@jest/globals";
import fc from "fast-check";
import { collect, type Collected, type CollectedRun } from "./collect.fixture.ts";
import type { Item } from "./items.ts";

/** A reader of one file, whose bytes are damaged. */
export type DamagedReader = (bytes: Uint8Array) => AsyncIterable<Item> | Iterable<Item>;

/** How a file is damaged. */
export type DamageOptions = {
  /** The whole file. */
  readonly bytes: Uint8Array;
  readonly read: DamagedReader;
  /** Where records end: a file that is cut there is whole. In rising order, the length of the file included. */
  readonly ends: readonly number[];
  /** Most runs of each of the two properties. */
  readonly runs: number;
};

/**
 * Expects of every cut and of changed bits that the reader ends without an error, yields all that it yields of the whole records before the damage, and counts what
 * is not whole.
 */
export async function expectSurvival({ bytes, read, ends, runs }: DamageOptions): Promise<void> {
  const before = new Map<number, Collected>();
  const wholeBefore = async (at: number): Promise<Collected> => {
    const end = ends.findLast((place) => place <= at) ?? 0;
    const known = before.get(end) ?? (await collect(read(bytes.subarray(0, end))));
    before.set(end, known);
    return known;
  };
  const cut = fc.asyncProperty(fc.nat(bytes.length - 1), async (at) => {
    const part = await collect(read(bytes.subarray(0, at)));
    expectBeginning(part, await wholeBefore(at));
    if (at > 0 && !ends.includes(at)) expect(countOf(part)).toBeGreaterThan(0);
  });
  const flip = fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
    const changed = Uint8Array.from(bytes);
    changed[at]! ^= 1 << bit;
    expectBeginning(await collect(read(changed)), await wholeBefore(at));
  });
  await fc.assert(cut, { numRuns: runs });
  await fc.assert(flip, { numRuns: runs });
}

function countOf({ warnings }: Collected): number {
  return Object.values(warnings)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, count) => sum + count, 0);
}

/** Expects that every series of a result begins with the one of another result. */
function expectBeginning(result: Collected, beginning: Collected): void {
  for (const [id, run] of Object.entries(beginning.runs)) {
    for (const kind of ["points", "texts", "histograms", "images", "tables", "lines"] as const) {
      for (const [key, rows] of Object.entries<readonly unknown[]>(run[kind])) {
        expect(seriesOf(result.runs[id], kind, key).slice(0, rows.length)).toEqual(rows);
      }
    }
  }
}

function seriesOf(run: CollectedRun | undefined, kind: keyof CollectedRun, key: string): readonly unknown[] {
  return (run?.[kind] as Record<string, readonly unknown[]> | undefined)?.[key] ?? [];
}
