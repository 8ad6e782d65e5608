import type { Db, Tx } from "@tidemark/pg";
import {
  emptyEntries,
  joinEntries,
  newestEntries,
  newestSteps,
  type ArrivedEntries,
  type RankEntries,
} from "../domain/rank-entries.ts";
import { LISTED_KEYS_MAX, stepLimit } from "../domain/rank-limits.ts";
import { listRankKeys } from "./list-rank-keys.ts";
import { findStepFloor, listRankSets, readRankValues, type RankSet, type StepRange } from "./read-rank-values.ts";

/** What to read of a run. */
export type RankQuery = {
  readonly orgId: string;
  readonly runId: string;
  /** Undefined: the first of the run. */
  readonly key: string | undefined;
  /** Inclusive bounds; undefined: none. */
  readonly startStep: number | undefined;
  readonly endStep: number | undefined;
  /** The newest so many steps, fewer where the ranks are many. */
  readonly limit: number;
};

/** What was read. */
export type RankReading = {
  readonly keys: readonly string[];
  /** Null when the run has none. */
  readonly key: string | null;
  readonly entries: RankEntries;
  /** The limit that was applied. */
  readonly stepLimit: number;
};

/** So many sets are read at once: each may have as many values as the whole answer. */
const SETS_AT_ONCE = 16;
/** So many entries are collected before those that count are picked out of them. */
const ENTRIES_AT_ONCE = 4 * 65_536;

/** The newest value of each rank at the newest steps of one key, all as of one moment. */
export function readRankSummary(db: Db, query: RankQuery): Promise<RankReading> {
  const { orgId, runId, limit } = query;
  return db.readTenant(orgId, async (tx) => {
    const keys = query.key === undefined ? await listRankKeys(tx, orgId, runId, LISTED_KEYS_MAX) : [query.key];
    const key = keys[0];
    if (key === undefined) return { keys, key: null, entries: emptyEntries(0), stepLimit: limit };
    const range = { orgId, runId, from: query.startStep ?? 0, to: query.endStep ?? Number.POSITIVE_INFINITY };
    const sets = await listRankSets(tx, range, key);
    const steps = stepLimit(limit, Math.max(0, ...sets.map(({ worldSize }) => worldSize)));
    const entries = sets.length === 0 ? emptyEntries(0) : newestSteps(await readNewest(tx, range, sets, steps), steps);
    return { keys, key, entries, stepLimit: steps };
  });
}

/** The newest value of each rank at the newest steps, and perhaps at some before them. */
async function readNewest(
  tx: Tx,
  range: StepRange,
  sets: readonly RankSet[],
  stepsMax: number,
): Promise<ArrivedEntries> {
  const from = await findStepFloor(tx, range, sets, stepsMax);
  let parts: ArrivedEntries[] = [];
  let count = 0;
  for (let at = 0; at < sets.length; at += SETS_AT_ONCE) {
    const read = await readRankValues(tx, { ...range, from }, sets.slice(at, at + SETS_AT_ONCE));
    for (const part of read) {
      parts.push(part);
      count += part.steps.length;
    }
    if (count < ENTRIES_AT_ONCE) continue;
    parts = [newestEntries(joinEntries(parts))];
    count = parts[0]!.steps.length;
  }
  return newestEntries(joinEntries(parts));
}
