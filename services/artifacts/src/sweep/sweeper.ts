import type { Log } from "@tidemark/telemetry";
import type { UploadJobs } from "../uploads/upload-jobs.ts";
import { listDue } from "./due.sql.ts";
import { sweep, type SweepOptions } from "./sweep.ts";

/** How often a process looks for uploads that another one has left while it verified them. */
const TAKE_OVER_MS = 5000;
const TAKEN_OVER_TOGETHER = 10;

/** What a sweeper works with. */
export type SweeperOptions = Omit<SweepOptions, "isStopped"> & {
  readonly jobs: Pick<UploadJobs, "resume">;
  readonly sweepSeconds: number;
  readonly log: Pick<Log, "info" | "warn">;
};

/** Sweeps from time to time, and goes on with uploads that a process has left. `stop` ends it after the current step. */
export function startSweeper(options: SweeperOptions): { stop(): Promise<void> } {
  const { workerDb, jobs, log } = options;
  let stopped = false;
  const sweeping = every(options.sweepSeconds * 1000, async () => {
    const swept = await sweep({ ...options, isStopped: () => stopped });
    if (Object.values(swept).some((count) => count > 0)) {
      const { sessions, versionsExpired, versionsPurged, objects, bytes } = swept;
      log.info("artifacts are swept", {
        sessions,
        versions_expired: versionsExpired,
        versions_purged: versionsPurged,
        objects,
        bytes,
      });
    }
  });
  const takingOver = every(TAKE_OVER_MS, async () => {
    for (const { orgId, id } of await listDue(workerDb, "left", TAKEN_OVER_TOGETHER)) {
      // A file that does not verify is the affair of whoever asks for it.
      if (!stopped) await jobs.resume(orgId, id).catch(() => {});
    }
  });

  function every(ms: number, work: () => Promise<void>) {
    let round: Promise<void> | undefined;
    const begin = (): void => {
      if (round !== undefined) return;
      round = work()
        .catch((error: unknown) => log.warn("artifacts could not be swept; the next round tries again", { error }))
        .finally(() => (round = undefined));
    };
    const timer = setInterval(begin, ms);
    timer.unref();
    begin();
    return {
      stop: async () => {
        clearInterval(timer);
        await round;
      },
    };
  }

  return {
    stop: async () => {
      stopped = true;
      await Promise.all([sweeping.stop(), takingOver.stop()]);
    },
  };
}
