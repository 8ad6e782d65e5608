import { SIGNS_OF_LIFE_MAX } from "@tidemark/limits";
import type { Log } from "@tidemark/telemetry";

/** A run that wrote or polled this many milliseconds ago. */
export type NotedHeartbeat = { readonly orgId: string; readonly runId: string; readonly ageMs: bigint };

/** Collects when runs last wrote or polled, and reports it each minute. */
export type Heartbeats = {
  /** Notes that a run of an organization is alive. */
  readonly note: (orgId: string, runId: string) => void;
  /** Reports the noted runs. Those that cannot be reported are kept for the next time. */
  readonly flush: () => Promise<void>;
  readonly start: () => void;
  /** Reports the rest and ends. */
  readonly stop: () => Promise<void>;
};

const REPORT_MS = 60_000;
/** Runs that are remembered while they cannot be reported, about 20 MB; those noted first are forgotten first. */
const RUNS_MAX = 100_000;

/**
 * Creates the collector: one entry for each run, however often it is noted. A process that dies loses at most a minute of signs.
 * Ages are reported instead of instants, so that only the clock of the service decides which run is stale; `nowMs` never goes back.
 */
export function createHeartbeats(options: {
  readonly report: (signs: readonly NotedHeartbeat[]) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly runsMax?: number;
}): Heartbeats {
  const { report, nowMs, log, runsMax = RUNS_MAX } = options;
  // A run id belongs to one organization.
  let noted = new Map<string, { readonly orgId: string; ms: number }>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  const sendAll = async (): Promise<void> => {
    const sent = [...noted];
    noted = new Map();
    for (let first = 0; first < sent.length; first += SIGNS_OF_LIFE_MAX) {
      const part = sent.slice(first, first + SIGNS_OF_LIFE_MAX);
      const now = nowMs();
      try {
        await report(
          part.map(([runId, { orgId, ms }]) => ({ orgId, runId, ageMs: BigInt(Math.round(Math.max(0, now - ms))) })),
        );
      } catch (error) {
        const left = sent.slice(first);
        log.warn("signs of life of runs could not be reported", { error, runs: left.length });
        for (const [runId, sign] of left) if (!noted.has(runId) && noted.size < runsMax) noted.set(runId, sign);
        return;
      }
    }
  };
  const flush = (): Promise<void> => {
    flushing ??= sendAll().finally(() => (flushing = undefined));
    return flushing;
  };

  return {
    note(orgId, runId) {
      const known = noted.get(runId);
      if (known !== undefined) {
        known.ms = nowMs();
        return;
      }
      if (noted.size >= runsMax) noted.delete(noted.keys().next().value!);
      noted.set(runId, { orgId, ms: nowMs() });
    },
    flush,
    start() {
      timer = setInterval(() => void flush(), REPORT_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await flushing;
      await flush();
    },
  };
}
