import { isAppError } from "@tidemark/errors";
import { claimKey, keyReused, sqlState, type Db, type Tx } from "@tidemark/pg";
import { planGroup, type DraftDeps, type GroupDraft } from "./group-draft.ts";
import { appendMetricGroup, insertedOf, lockMetricRuns, type GroupOutcome } from "./metric-group.sql.ts";
import { decideMarkerAgain, passMarkerOn, type PendingWrite } from "./pending-write.ts";
import type { PointSlots } from "./point-slots.rules.ts";

/** Dependencies of commits. */
export type CommitDeps = DraftDeps & { readonly db: Db; readonly pointSlots: PointSlots };

/** After this many rounds lost to faster processes, the group locks its runs. */
const STALE_ROUNDS = 2;

/**
 * Stores the writes of a group in one transaction and answers them. Repeats are answered without being stored. Writes whose idempotency key
 * another transaction holds are returned, to be stored alone. A group that fails is stored write by write, so that a write that cannot be
 * stored fails alone. Never throws.
 */
export async function commitGroup(writes: readonly PendingWrite[], deps: CommitDeps): Promise<readonly PendingWrite[]> {
  const held: PendingWrite[] = [];
  let left = writes;
  try {
    for (let staleRounds = 0; left.length > 0;) {
      const { outcome, keep } = await attempt(left, deps, staleRounds >= STALE_ROUNDS);
      if (outcome.outcome === "applied") {
        keep(outcome.notedMinute);
        for (const write of left) write.resolve({ inserted: write.columns.values.length, replayed: false });
        break;
      }
      if (outcome.outcome === "sort_keys") await loadSortKeys(deps, left[0]!.orgId);
      else if (outcome.outcome === "keys") left = withoutUnusable(left, outcome, held);
      else {
        staleRounds += 1;
        for (const runId of outcome.runIds) deps.states.drop(runId);
      }
    }
  } catch (error) {
    // It is not always known whether anything was stored.
    dropRuns(left, deps);
    if (left.length === 1 || isUnavailable(error)) for (const write of left) write.reject(error as Error);
    else held.push(...(await commitSingly(left, deps)));
  }
  return held;
}

async function commitSingly(writes: readonly PendingWrite[], deps: CommitDeps): Promise<PendingWrite[]> {
  const held: PendingWrite[] = [];
  for (const write of writes) {
    decideMarkerAgain(write);
    held.push(...(await commitGroup([write], deps)));
  }
  return held;
}

type Attempt = { readonly outcome: GroupOutcome; readonly keep: GroupDraft["keep"] };

async function attempt(writes: readonly PendingWrite[], deps: CommitDeps, locked: boolean): Promise<Attempt> {
  const { db } = deps;
  const orgId = writes[0]!.orgId;
  if (!locked) {
    const draft = await planGroup(db, writes, deps);
    if (draft === undefined) {
      return { outcome: { outcome: "stale", runIds: writes.map(({ runId }) => runId) }, keep: () => {} };
    }
    return { outcome: await append(db, orgId, draft, deps), keep: draft.keep };
  }
  return db.withTenant(orgId, async (tx) => {
    const runIds = [...new Set(writes.map(({ runId }) => runId))].sort();
    await lockMetricRuns(tx, orgId, runIds);
    dropRuns(writes, deps);
    const draft = requirePlan(await planGroup(tx, writes, deps));
    return { outcome: await append(tx, orgId, draft, deps), keep: draft.keep };
  });
}

function append(tx: Tx, orgId: string, draft: GroupDraft, { pointSlots }: CommitDeps): Promise<GroupOutcome> {
  const { runs, sortKeysVersion } = draft;
  return appendMetricGroup(tx, { orgId, runs, sortKeysVersion, pointsSlot: pointSlots.next() });
}

function loadSortKeys({ db, sortKeys }: CommitDeps, orgId: string): Promise<void> {
  return db.withTenant(orgId, (tx) => sortKeys.load(tx, orgId));
}

/** Answers the repeats, adds the writes with held keys to `held`, and returns the others. */
function withoutUnusable(
  writes: readonly PendingWrite[],
  { keys }: Extract<GroupOutcome, { outcome: "keys" }>,
  held: PendingWrite[],
): PendingWrite[] {
  // In the order of the statement: by run, then in their own order.
  const keyed = inStatementOrder(writes).filter(({ idempotency }) => idempotency !== null);
  const unusable = new Set<PendingWrite>();
  for (const key of keys) {
    const write = keyed[key.index]!;
    if (unusable.has(write)) continue;
    unusable.add(write);
    if (key.state === "held") held.push(write);
    else if (key.state === "reused") write.reject(keyReused());
    else if (key.state === "replayed") write.resolve({ inserted: key.inserted, replayed: true });
  }
  const left = writes.filter((write) => !unusable.has(write));
  for (const write of unusable) passMarkerOn(write, left);
  return left;
}

/** Returns the draft. @throws Error when a locked run could not be loaded, which is a fault in the database */
function requirePlan(draft: GroupDraft | undefined): GroupDraft {
  if (draft === undefined) throw new Error("aggregate pages of a run are missing");
  return draft;
}

function inStatementOrder(writes: readonly PendingWrite[]): PendingWrite[] {
  // Sorting is stable.
  return [...writes].sort((a, b) => (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0));
}

/** Stores a write whose idempotency key another transaction holds, once that transaction has ended, and answers it. Never throws. */
export async function commitHeld(write: PendingWrite, deps: CommitDeps): Promise<void> {
  const { orgId, runId, idempotency } = write;
  try {
    const before = await deps.db.withTenant(orgId, async (tx) => {
      const reply = idempotency === null ? undefined : await claimKey(tx, orgId, idempotency);
      if (reply !== undefined) return reply;
      await lockMetricRuns(tx, orgId, [runId]);
      dropRuns([write], deps);
      for (;;) {
        const { outcome } = await append(tx, orgId, requirePlan(await planGroup(tx, [write], deps)), deps);
        if (outcome === "applied") return undefined;
        if (outcome !== "sort_keys") throw new Error(`a locked write was not applied: ${outcome}`);
        await deps.sortKeys.load(tx, orgId);
      }
    });
    if (before === undefined) write.resolve({ inserted: write.columns.values.length, replayed: false });
    else write.resolve({ inserted: insertedOf(before), replayed: true });
  } catch (error) {
    write.reject(error as Error);
  } finally {
    // A group that writes the run may not know of this write: it finds out by the version.
    dropRuns([write], deps);
  }
}

function dropRuns(writes: readonly PendingWrite[], { states }: CommitDeps): void {
  for (const { runId } of writes) states.drop(runId);
}

/** Returns whether the database could not be asked, or took too long. */
function isUnavailable(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return error.reason === "warehouse_unavailable" || sqlState(error.cause) === "57014";
}
