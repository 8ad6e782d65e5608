import type { BenchContext } from "../frame/bench.ts";
import type { BenchStack } from "../frame/stack.ts";
import { otherOrganizations, seedRuns, type SeededRuns } from "./seed-runs.ts";

const SMALL = 2000;
const MEDIUM = 10;

/** Fills a database with organizations of very different sizes: 2,000 small ones, ten of 1,000 runs, and those that are named. */
export async function seedSkewed(
  { scaled }: BenchContext,
  { owner }: BenchStack,
  named: readonly { readonly orgId: string; readonly runs: number }[],
  options: { readonly metrics?: number; readonly vacuum?: boolean } = {},
): Promise<void> {
  const measured = named.map(({ orgId, runs }): SeededRuns => ({ orgId, first: 1, last: runs }));
  await seedRuns(owner, [...otherOrganizations(scaled(SMALL), scaled(MEDIUM)), ...measured], options);
}
