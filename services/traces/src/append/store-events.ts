import { AppError, badRequest, isAppError } from "@tidemark/errors";
import { TRACE_LIMITS } from "@tidemark/limits";
import { claimKey, keyInProgress, keyReused, sqlState, type Db, type Tx } from "@tidemark/pg";
import { mapInTurns } from "@tidemark/work";
import { summarize } from "../fold/summary.rules.ts";
import { catchUp } from "../state/segments.sql.ts";
import type { TraceKey, TraceState } from "../state/trace-state.rules.ts";
import type { TraceStates } from "../state/trace-states.ts";
import { readAnswer, writeAnswer, type AppendAnswer } from "./events.rules.ts";
import { appendEvents, lockTraces, type AppendOutcome, type KeyHashes } from "./append-events.sql.ts";
import type { TraceAddition } from "./arrange-events.rules.ts";

/** The dependencies of appends. */
export type StoreDeps = {
  readonly db: Db;
  readonly states: TraceStates;
  /** Seconds for which a trace of several segments has to be quiet before it is compacted. */
  readonly quietSeconds: number;
};

/** The events of one request. */
export type EventsToStore = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly idempotency: KeyHashes | null;
  readonly eventCount: number;
  /** Ascending by trace. */
  readonly additions: readonly TraceAddition[];
  /** When each restored trace was last written; 0: already known. */
  readonly restoredUs?: readonly number[];
};

/** After this many rounds in which another process was quicker, the traces are locked first. */
const STALE_ROUNDS = 2;
/**
 * A trace with this many spans is brought up to date before anything is folded in: it costs one more round trip, and folding in vain would cost reading
 * the whole trace again, because folding cannot be undone.
 */
const LARGE_SPANS = 1000;

/** Ends a use of states that hold records that were not stored. */
class NotStored extends Error {
  readonly outcome: Exclude<AppendOutcome, { outcome: "inserted" }>;
  constructor(outcome: Exclude<AppendOutcome, { outcome: "inserted" }>) {
    super(outcome.outcome);
    this.outcome = outcome;
  }
}

/**
 * Stores the events of a request in one transaction, all or none. The first round assumes that traces not in memory are new, which nearly all
 * are, and asks the database nothing before it writes. A trace that turns out to be different is read, as far as it is not in memory, and the events
 * are folded again.
 * @throws idempotency_key_reused, idempotency_in_progress, bad_request for a trace with too many spans
 */
export async function storeEvents(
  deps: StoreDeps,
  write: EventsToStore,
): Promise<AppendAnswer & { readonly replayed: boolean }> {
  const { orgId, runId, additions } = write;
  const traceIds = additions.map(({ traceId }) => traceId);
  const keys = traceIds.map((traceId) => ({ orgId, runId, traceId }));
  const answer = { inserted: write.eventCount, traceIds };
  for (let round = 0; ; round++) {
    try {
      await deps.states.use(keys, async (states) => {
        if (round < STALE_ROUNDS) {
          const known = keys.map((key, i) => ({ key, state: states[i]! }));
          const behind = round > 0 ? known : known.filter(({ state }) => state.fold.totals.spans >= LARGE_SPANS);
          if (behind.length > 0) await deps.db.readTenant(orgId, (tx) => catchUpAll(tx, behind));
          return append(deps, deps.db, write, states, answer);
        }
        return deps.db.withTenant(orgId, async (tx) => {
          // Before the traces are locked, in the same order as all transactions.
          if (write.idempotency !== null) {
            const before = await claimKey(tx, orgId, write.idempotency);
            if (before !== undefined) throw new NotStored({ outcome: "replayed", old_answer: before });
          }
          await lockTraces(tx, orgId, runId, traceIds);
          await catchUpAll(
            tx,
            keys.map((key, i) => ({ key, state: states[i]! })),
          );
          await append(deps, tx, write, states, answer);
        });
      });
      return { ...answer, replayed: false };
    } catch (error) {
      if (waitedForKey(error)) throw keyInProgress();
      if (!(error instanceof NotStored)) throw error;
      const { outcome } = error;
      if (outcome.outcome === "replayed") return { ...readAnswer(outcome.old_answer), replayed: true };
      if (outcome.outcome === "reused") throw keyReused();
      if (round > STALE_ROUNDS + ROUNDS_LOCKED_MAX) {
        throw new AppError("service_unavailable", "these traces are being written by others; try again", {
          retryAfterSeconds: 1,
        });
      }
    }
  }
}

/** Only a trace that another process has just created can make a locked round fail, so that one more nearly always suffices. */
const ROUNDS_LOCKED_MAX = 8;

type KnownTrace = { readonly key: TraceKey; readonly state: TraceState };

async function catchUpAll(tx: Tx, traces: readonly KnownTrace[]): Promise<void> {
  for (const { key, state } of traces) await catchUp(tx, key, state);
}

async function append(
  { quietSeconds }: StoreDeps,
  tx: Tx,
  write: EventsToStore,
  states: readonly TraceState[],
  answer: AppendAnswer,
): Promise<void> {
  const { orgId, runId, projectId, idempotency, additions, restoredUs = null } = write;
  additions.forEach((addition, i) => refuseTooMany(addition, states[i]!));
  const traces = await mapInTurns(additions, (addition, i) => {
    const { fold, version, segments } = states[i]!;
    for (const { record, segment, place } of addition.records) fold.fold(record, version + segment + 1, place);
    fold.settle();
    return {
      traceId: addition.traceId,
      version,
      segmentCount: segments + addition.segments.length,
      segments: addition.segments,
      summary: summarize(fold),
    };
  });
  const outcome = await appendEvents(tx, {
    orgId,
    runId,
    projectId,
    idempotency,
    answer: writeAnswer(answer),
    eventCount: write.eventCount,
    traces,
    workSeconds: quietSeconds,
    restoredUs,
  });
  if (outcome.outcome !== "inserted") throw new NotStored(outcome);
  traces.forEach(({ version, segmentCount, segments }, i) => {
    const state = states[i]!;
    state.version = version + segments.length;
    state.segments = segmentCount;
    state.updatedUs = Math.max(state.updatedUs, restoredUs?.[i] ?? outcome.updated);
  });
}

/** @throws bad_request */
function refuseTooMany({ records }: TraceAddition, { fold }: TraceState): void {
  const { ids } = fold.table;
  if (ids.count + records.length <= TRACE_LIMITS.spansMax) return;
  const added = records.filter(({ record }) => ids.find(record.idHigh, record.idLow) === -1).length;
  if (ids.count + added <= TRACE_LIMITS.spansMax) return;
  throw badRequest(`a trace must have at most ${TRACE_LIMITS.spansMax} spans`, "events");
}

/** Returns whether the write waited too long for a lock, and the lock was that of an idempotency key. */
function waitedForKey(error: unknown): boolean {
  if (!isAppError(error) || sqlState(error.cause) !== "55P03") return false;
  const { where } = error.cause as { where?: unknown };
  return typeof where === "string" && where.includes("platform.claim_key");
}
