import { startRounds } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Log, Metrics } from "@tidemark/telemetry";
import { compactTrace } from "./compact-trace.ts";
import { claimTraces, postpone } from "./compaction-work.sql.ts";

/** A compactor that runs. */
export type Compactor = {
  /** Does all due work, and resolves when none is left. */
  round(): Promise<void>;
  /** Ends after the current trace. */
  stop(): Promise<void>;
};

/** How long a claim lasts: several times as long as the largest trace takes. The claims of a killed process are due again after that. */
const LEASE_SECONDS = 60;
const CLAIMED_MAX = 8;
const TICK_MS = 1000;

/** Compacts the traces of all organizations, while other processes do the same. */
export function startCompactor(options: {
  readonly db: Db;
  /** As the worker's role, which sees due work of all organizations. */
  readonly workerDb: Db;
  readonly quietSeconds: number;
  readonly metrics: Pick<Metrics, "compactionVisit">;
  readonly log: Pick<Log, "warn">;
  readonly tickMs?: number;
}): Compactor {
  const { db, workerDb, quietSeconds, metrics, log } = options;

  const round = async (isStopped: () => boolean): Promise<void> => {
    while (!isStopped()) {
      const claimed = await claimTraces(workerDb, CLAIMED_MAX, LEASE_SECONDS);
      for (const key of claimed) {
        if (isStopped()) return;
        const started = performance.now();
        const seconds = (): number => (performance.now() - started) / 1000;
        try {
          const done = await compactTrace(db, key, quietSeconds);
          if (done.kind === "later") await postpone(workerDb, key, done.seconds);
          const { rows, blocks } = done.kind === "rewritten" ? done : { rows: 0, blocks: 0 };
          metrics.compactionVisit({ kind: "traces", ok: true, rows, blocks, seconds: seconds() });
        } catch (error) {
          log.warn("compaction failed; it is tried again", {
            kind: "traces",
            org_id: key.orgId,
            run_id: key.runId,
            error,
          });
          metrics.compactionVisit({ kind: "traces", ok: false, rows: 0, blocks: 0, seconds: seconds() });
        }
      }
      if (claimed.length < CLAIMED_MAX) return;
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
