import type { Db } from "@tidemark/pg";
import type { Log, Metrics } from "@tidemark/telemetry";
import type { WorkItem } from "../domain/work-item.ts";
import { claimCompactionWork } from "../store/claim-compaction-work.ts";
import { measureCompactionLag } from "../store/measure-compaction-lag.ts";
import { releaseCompactionWork } from "../store/release-compaction-work.ts";
import { takeCompactionMarks } from "../store/take-compaction-marks.ts";
import type { CompactionKind, VisitResult } from "./compaction-kind.ts";

/** A compactor that runs. */
export type Compaction = {
  /** Looks for work now instead of at the next tick, and resolves when there is nothing due. */
  round(): Promise<void>;
  /** Ends after the step in hand and gives back what it had claimed. */
  stop(): Promise<void>;
};

/** A claim lasts so long after its latest step; a step takes well below a second. */
export const LEASE_SECONDS = 15;
/** Claimed at once. Few, because each waits for those before it. */
const CLAIMED_MAX = 4;
const BACKLOG_MS = 15_000;
/** Marks are taken so often while there is work, and at each tick. */
const MARKS_MS = 500;
const TICK_MS = 1000;
const RETRY_SECONDS_MAX = 600;
/** Quiet work ends so long after its last mark: three times the longest interval between the marks of a writer. */
export const QUIET_SECONDS = 15 * 60;

/** What a compactor works with. */
export type CompactionOptions = {
  /** The pool of the worker's role. */
  readonly db: Db;
  readonly kinds: readonly CompactionKind[];
  readonly metrics: Pick<Metrics, "compactionVisit" | "compactionBacklog">;
  readonly log: Pick<Log, "warn">;
  readonly tickMs?: number;
};

/**
 * Looks after everything of these kinds, one thing after another and the kinds by turns: takes the marks that writers left, claims what is due
 * under a fence of its own, lets the kind do its steps, and gives the claim back. Any number of processes may do so at once. What one of them had claimed when it was
 * killed is due again when the claim runs out.
 */
export function startCompaction(options: CompactionOptions): Compaction {
  const { db, kinds, metrics, log } = options;
  let stopping = false;
  let current: Promise<void> | undefined;
  let backlogAtMs = 0;

  /** Returns after how many seconds it wants to be looked at again. */
  const visit = async (kind: CompactionKind, item: WorkItem): Promise<number> => {
    const started = performance.now();
    let result: VisitResult;
    let failures = 0;
    try {
      result = await kind.visit(item, () => stopping);
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

  /** One turn of a kind; whether there may be more for it at once. */
  const workOff = async (kind: CompactionKind): Promise<boolean> => {
    const items = await claimCompactionWork(db, kind.name, { count: CLAIMED_MAX, leaseSeconds: LEASE_SECONDS });
    let isMore = items.length === CLAIMED_MAX;
    for (const item of items) {
      if (stopping)
        await releaseCompactionWork(db, kind.name, item, {
          nextSeconds: 0,
          quietSeconds: null,
          failures: item.failures,
        });
      else if ((await visit(kind, item)) <= 0) isMore = true;
    }
    return isMore && !stopping;
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
  const work = async (): Promise<void> => {
    let takenAtMs = -Infinity;
    // The kinds take turns, and marks are taken between them: where there is always something due, nothing waits for the end of it.
    for (let busy = [...kinds]; busy.length > 0;) {
      if (performance.now() - takenAtMs >= MARKS_MS) {
        takenAtMs = performance.now();
        await takeCompactionMarks(db, names);
        await tellBacklog();
        busy = [...kinds];
      }
      const more: CompactionKind[] = [];
      for (const kind of busy) if (await workOff(kind)) more.push(kind);
      busy = more;
    }
  };

  const round = (): Promise<void> => {
    if (stopping) return current ?? Promise.resolve();
    current ??= work().finally(() => {
      current = undefined;
    });
    return current;
  };
  const tick = (): void => {
    round().catch((error: unknown) => log.warn("compaction could not be looked after; it is tried again", { error }));
  };

  const timer = setInterval(tick, options.tickMs ?? TICK_MS);
  timer.unref();
  return {
    round,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await current?.catch(() => {});
    },
  };
}
