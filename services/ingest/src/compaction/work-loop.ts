import { startRounds, nextTurn } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Log, Metrics } from "@tidemark/telemetry";
import {
  claimCompactionWork,
  measureCompactionLag,
  releaseCompactionWork,
  takeDirtyMarkers,
  type Claim,
  type WorkItem,
} from "./compaction-work.sql.ts";

/** The report of a visit to the loop. */
export type VisitResult = {
  /** Seconds until the next look, unless a dirty marker asks for an earlier one. */
  readonly nextSeconds: number;
  /** Nothing waits. The work ends if no marker was left for `QUIET_SECONDS`. */
  readonly isQuiet: boolean;
  /** Rows that were compacted (landing segments, or rows of rank metrics), and blocks that were written in their place. */
  readonly rows: number;
  readonly blocks: number;
};

/** A kind of run data that can be compacted. */
export type CompactionKind = {
  /** The kind of its dirty markers and work: `logs`, `metrics` or `ranks`. */
  readonly name: string;
  /**
   * Does what is due, in steps of bounded size. Each step takes effect as a whole, and only while the fence holds. Ends after the current step
   * when `isStopping`.
   */
  visit(item: WorkItem, isStopping: () => boolean): Promise<VisitResult>;
  /** Returns about how many such rows wait, across all organizations. */
  countWaiting(): Promise<number>;
};

/** A running compactor. */
export type Compaction = {
  /** Looks for work now instead of at the next tick, and resolves when nothing is due any more. */
  round(): Promise<void>;
  /** Ends after the current step and gives back what it had claimed. */
  stop(): Promise<void>;
};

/** How long a claim lasts after its latest step; a step takes well below a second. */
const LEASE_SECONDS = 15;
/** Parts that are claimed together. Few, because each part waits for the ones before it. */
const CLAIMED_MAX = 4;
const BACKLOG_MS = 15_000;
/** How often dirty markers are taken while there is work, in addition to each tick. */
const MARKERS_MS = 500;
const TICK_MS = 1000;
const RETRY_SECONDS_MAX = 600;
/** How long after its last marker quiet work ends: three times the longest interval between the markers of a writer. */
export const QUIET_SECONDS = 15 * 60;

/** Returns what a change needs to prove and prolong the claim. */
export function claimOf({ fence }: WorkItem): Claim {
  return { fence, leaseSeconds: LEASE_SECONDS };
}

/** Dependencies of a compactor. */
type CompactionOptions = {
  /** The pool of the worker's role. */
  readonly db: Db;
  readonly kinds: readonly CompactionKind[];
  readonly metrics: Pick<Metrics, "compactionVisit" | "compactionBacklog">;
  readonly log: Pick<Log, "warn">;
  readonly tickMs?: number;
};

/**
 * Compacts everything of these kinds, one part after another, with the kinds taking turns: takes the dirty markers that writers left, claims the
 * parts that are due, each under a new fence, lets the kind do its steps, and releases the claim. Any number of processes may do so
 * simultaneously. Work that a killed process had claimed is due again when the claim runs out.
 */
export function startCompaction(options: CompactionOptions): Compaction {
  const { db, kinds, metrics, log } = options;
  let backlogAtMs = 0;

  /** Visits a part and ends its claim. Returns the seconds until the part is due again. */
  const visit = async (kind: CompactionKind, item: WorkItem, isStopped: () => boolean): Promise<number> => {
    const started = performance.now();
    let result: VisitResult;
    let failures = 0;
    try {
      result = await kind.visit(item, isStopped);
    } catch (error) {
      failures = item.failures + 1;
      log.warn("compaction failed; it is tried again", {
        kind: kind.name,
        org_id: item.orgId,
        run_id: item.runId,
        error,
      });
      result = { nextSeconds: Math.min(RETRY_SECONDS_MAX, 2 ** failures), isQuiet: false, rows: 0, blocks: 0 };
    }
    const { rows, blocks, nextSeconds, isQuiet } = result;
    const seconds = (performance.now() - started) / 1000;
    metrics.compactionVisit({ kind: kind.name, ok: failures === 0, rows, blocks, seconds });
    const quietSeconds = isQuiet ? QUIET_SECONDS : null;
    await releaseCompactionWork(db, kind.name, item, { nextSeconds, quietSeconds, failures });
    return nextSeconds;
  };

  /** Runs one turn of a kind. Returns whether more of the kind may be due already. */
  const workOff = async (kind: CompactionKind, isStopped: () => boolean): Promise<boolean> => {
    const items = await claimCompactionWork(db, kind.name, { count: CLAIMED_MAX, leaseSeconds: LEASE_SECONDS });
    let isMore = items.length === CLAIMED_MAX;
    for (const item of items) {
      if (isStopped())
        await releaseCompactionWork(db, kind.name, item, {
          nextSeconds: 0,
          quietSeconds: null,
          failures: item.failures,
        });
      else if ((await visit(kind, item, isStopped)) <= 0) isMore = true;
    }
    return isMore && !isStopped();
  };

  const tellBacklog = async (): Promise<void> => {
    if (performance.now() - backlogAtMs < BACKLOG_MS && backlogAtMs > 0) return;
    backlogAtMs = performance.now();
    for (const kind of kinds) {
      const lagSeconds = await measureCompactionLag(db, kind.name);
      metrics.compactionBacklog({ kind: kind.name, lagSeconds, rowsWaiting: await kind.countWaiting() });
    }
  };

  const names = kinds.map(({ name }) => name);
  const round = async (isStopped: () => boolean): Promise<void> => {
    let takenAtMs = -Infinity;
    // The kinds take turns, and markers are taken between the turns, so that nothing waits for a kind that always has work.
    for (let busy = [...kinds]; busy.length > 0;) {
      if (performance.now() - takenAtMs >= MARKERS_MS) {
        takenAtMs = performance.now();
        await takeDirtyMarkers(db, names);
        await tellBacklog();
        busy = [...kinds];
      }
      const more: CompactionKind[] = [];
      for (const kind of busy) if (await workOff(kind, isStopped)) more.push(kind);
      busy = more;
    }
  };

  const rounds = startRounds({
    everyMs: options.tickMs ?? TICK_MS,
    isFirstNow: false,
    round,
    onError: (error) => log.warn("the round of compaction failed; the next one tries again", { error }),
  });
  return { round: rounds.begin, stop: rounds.stop };
}

/** How long work holds the process at a time before other events run. */
const TURN_MS = 2;
/** How long other events may run at most, so that work gets a third of a process that is never idle. */
const OTHERS_MS = 4;
/** A round of the event loop that does nothing else takes less. */
const IDLE_MS = 0.2;

type TurnOptions = {
  /** A clock that never steps back. */
  readonly nowMs?: () => number;
  /** Resolves after one round of the event loop, when the other events that arrived before it had their turn. */
  readonly others?: () => Promise<unknown>;
};

/**
 * Returns a function that long work awaits between its steps. It resolves immediately during the turn of the work, and after it when
 * nothing else is left to do. One round of the event loop would not suffice: a request takes many rounds, one for each piece of its body, and
 * would wait for a turn of the work in each.
 */
export function takeTurns({
  nowMs = () => performance.now(),
  others = nextTurn,
}: TurnOptions = {}): () => Promise<void> {
  let since = nowMs();
  return async () => {
    const started = nowMs();
    if (started - since < TURN_MS) return;
    for (let at = started, before = -Infinity; at - before > IDLE_MS && at - started < OTHERS_MS;) {
      before = at;
      await others();
      at = nowMs();
    }
    since = nowMs();
  };
}
