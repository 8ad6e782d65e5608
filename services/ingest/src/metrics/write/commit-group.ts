import { isAppError } from "@tidemark/errors";
import { claimKey, keyReused, sqlState, type Db, type Tx } from "@tidemark/pg";
import type { DirtyMarkers } from "../../compaction/dirty-markers.rules.ts";
import { insertedOf, storeGroup, type GroupOutcome, type UnusableKey } from "./store-group.sql.ts";
import { applyGroup, loadGroup } from "./group-runs.ts";
import { decideMarker, decideMarkerAgain, passMarkerOn, type PendingWrite } from "./pending-write.rules.ts";
import { planGroup, type GroupPlan, type PointSlots } from "./plan-group.rules.ts";
import type { RunStates } from "./run-states.rules.ts";
import { lockMetricRuns } from "./run-states.sql.ts";
import type { SortKeyMemory } from "./sort-keys.ts";

/** Dependencies of commits. */
export type CommitDeps = {
  readonly db: Db;
  readonly states: RunStates;
  readonly sortKeys: SortKeyMemory;
  readonly markers: DirtyMarkers;
  readonly pointSlots: PointSlots;
};

/** After this many rounds lost to faster processes, the group locks its runs. */
const STALE_ROUNDS = 2;

/**
 * Stores the writes of a group in one transaction and answers them. Repeats are answered without being stored. Writes whose idempotency key
 * another transaction has locked are returned, to be stored alone. A group that fails is stored write by write, so that a write that cannot be
 * stored fails alone. Never throws.
 */
export async function commitGroup(writes: readonly PendingWrite[], deps: CommitDeps): Promise<readonly PendingWrite[]> {
  const waiting: PendingWrite[] = [];
  let open = writes;
  try {
    for (let staleRounds = 0; open.length > 0;) {
      const round = await (staleRounds < STALE_ROUNDS ? tryGroup(deps.db, open, deps) : tryLocked(open, deps));
      switch (round.outcome) {
        case "applied":
          applyGroup(round.plan, round.notedMinute, deps.states);
          for (const write of open) resolveStored(write);
          return waiting;
        case "sort_keys":
          await loadSortKeys(deps, open[0]!.orgId);
          break;
        case "keys":
          open = withoutUnusable(open, round.unusable, waiting);
          break;
        case "stale":
          staleRounds += 1;
          for (const runId of round.runIds) deps.states.forget(runId);
      }
    }
  } catch (error) {
    // It is not always known whether anything was stored.
    forgetRuns(open, deps);
    if (open.length === 1 || isUnavailable(error)) for (const write of open) write.reject(error as Error);
    else waiting.push(...(await commitSingly(open, deps)));
  }
  return waiting;
}

async function commitSingly(writes: readonly PendingWrite[], deps: CommitDeps): Promise<PendingWrite[]> {
  const waiting: PendingWrite[] = [];
  for (const write of writes) {
    decideMarkerAgain(write);
    waiting.push(...(await commitGroup([write], deps)));
  }
  return waiting;
}

/** The outcome of one round, with the plan if that was stored. */
type Round =
  | Exclude<GroupOutcome, { outcome: "applied" }>
  | (Extract<GroupOutcome, { outcome: "applied" }> & { readonly plan: GroupPlan });

/** Plans and stores a group based on what is known of its runs. */
async function tryGroup(tx: Tx, writes: readonly PendingWrite[], deps: CommitDeps): Promise<Round> {
  const { orgId } = writes[0]!;
  const runs = await loadGroup(tx, orgId, writes, deps.states);
  if (runs === undefined) return { outcome: "stale", runIds: writes.map(({ runId }) => runId) };
  for (const write of writes) decideMarker(write, deps.markers);
  const plan = planGroup(runs, deps.sortKeys.of(orgId));
  const stored = await storeGroup(tx, orgId, plan, deps.pointSlots.next());
  return stored.outcome === "applied" ? { ...stored, plan } : stored;
}

/** The same while no other process can write the runs. */
function tryLocked(writes: readonly PendingWrite[], deps: CommitDeps): Promise<Round> {
  const { orgId } = writes[0]!;
  return deps.db.withTenant(orgId, async (tx) => {
    await lockRuns(tx, writes, deps);
    return requireCurrent(await tryGroup(tx, writes, deps));
  });
}

/** Locks the runs of writes to one organization, and forgets what was known of them before. */
async function lockRuns(tx: Tx, writes: readonly PendingWrite[], deps: CommitDeps): Promise<void> {
  const runIds = [...new Set(writes.map(({ runId }) => runId))].sort();
  await lockMetricRuns(tx, writes[0]!.orgId, runIds);
  forgetRuns(writes, deps);
}

/** Returns the outcome. @throws Error when locked runs were stale, which is a fault in the database */
function requireCurrent(round: Round): Exclude<Round, { outcome: "stale" }> {
  if (round.outcome === "stale") throw new Error("the state of a locked run changes, or lacks aggregate pages");
  return round;
}

function loadSortKeys({ db, sortKeys }: CommitDeps, orgId: string): Promise<void> {
  return db.withTenant(orgId, (tx) => sortKeys.load(tx, orgId));
}

/** Answers the repeats, adds the writes with locked keys to `waiting`, and returns the others. */
function withoutUnusable(
  writes: readonly PendingWrite[],
  unusable: readonly UnusableKey[],
  waiting: PendingWrite[],
): PendingWrite[] {
  // A key that was locked may have been used when it was looked up: it is found twice, and the first finding counts.
  const found = new Set<PendingWrite>();
  for (const key of unusable) {
    const { request } = key;
    if (found.has(request)) continue;
    found.add(request);
    if (key.key === "repeated") request.resolve({ inserted: key.inserted, replayed: true });
    else if (key.key === "reused") request.reject(keyReused());
    else waiting.push(request);
  }
  const usable = writes.filter((write) => !found.has(write));
  for (const write of found) passMarkerOn(write, usable);
  return usable;
}

/** Stores a write whose idempotency key another transaction has locked, once that transaction has ended, and answers it. Never throws. */
export async function commitWaiting(write: PendingWrite, deps: CommitDeps): Promise<void> {
  const { orgId, idempotency } = write;
  try {
    const before = await deps.db.withTenant(orgId, async (tx) => {
      const reply = idempotency === null ? undefined : await claimKey(tx, orgId, idempotency);
      if (reply !== undefined) return reply;
      await lockRuns(tx, [write], deps);
      for (;;) {
        const { outcome } = requireCurrent(await tryGroup(tx, [write], deps));
        if (outcome === "applied") return undefined;
        if (outcome !== "sort_keys") throw new Error(`a locked write was not applied: ${outcome}`);
        await deps.sortKeys.load(tx, orgId);
      }
    });
    if (before === undefined) resolveStored(write);
    else write.resolve({ inserted: insertedOf(before), replayed: true });
  } catch (error) {
    write.reject(error as Error);
  } finally {
    // A group that writes the run may not know of this write: it finds out by the version.
    forgetRuns([write], deps);
  }
}

function resolveStored(write: PendingWrite): void {
  write.resolve({ inserted: write.columns.values.length, replayed: false });
}

function forgetRuns(writes: readonly PendingWrite[], { states }: CommitDeps): void {
  for (const { runId } of writes) states.forget(runId);
}

/** Returns whether the database could not be asked, or took too long. */
function isUnavailable(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return error.reason === "warehouse_unavailable" || sqlState(error.cause) === "57014";
}
