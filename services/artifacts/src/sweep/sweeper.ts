import { type Rounds, startRounds } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";
import type { UploadJobs } from "../uploads/upload-jobs.ts";
import { countDue, listDue } from "./due.sql.ts";
import { sweep, type SweepOptions } from "./sweep.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";

/** How often a process looks for uploads that another process left while verifying them. */
const TAKE_OVER_MS = 5000;
const TAKEN_OVER_TOGETHER = 10;

/** Dependencies of a sweeper. */
type SweeperOptions = Omit<SweepOptions, "isStopped"> & {
  readonly jobs: Pick<UploadJobs, "resume">;
  readonly sweepSeconds: number;
  readonly log: Pick<Log, "info" | "warn">;
};

/** Sweeps from time to time, and resumes uploads that a process has left. `stop` ends it after the current step. */
export function startSweeper(options: SweeperOptions): Pick<Rounds, "stop"> {
  const { workerDb, jobs, log, sweepSeconds } = options;
  const onError = (error: unknown): void =>
    log.warn("artifacts could not be swept; the next round tries again", { error });
  const sweeps = startRounds({
    everyMs: sweepSeconds * 1000,
    async round(isStopped) {
      const swept = await sweep({ ...options, isStopped });
      if (!Object.values(swept).some((count) => count > 0)) return;
      const { sessions, versionsExpired, versionsPurged, objects, bytes } = swept;
      log.info("artifacts are swept", {
        sessions,
        versions_expired: versionsExpired,
        versions_purged: versionsPurged,
        objects,
        bytes,
      });
    },
    onError,
  });
  const takeovers = startRounds({
    everyMs: TAKE_OVER_MS,
    async round(isStopped) {
      for (const { orgId, id } of await listDue(workerDb, "left", TAKEN_OVER_TOGETHER)) {
        // The job reports why it failed, to the client that asks for it or in the log; the next round looks again.
        if (!isStopped()) await jobs.resume(orgId, id).catch(() => {});
      }
    },
    onError,
  });
  return { stop: async () => void (await Promise.all([sweeps.stop(), takeovers.stop()])) };
}

/** Sweeps now, or with `dry_run` only counts what is due. @throws service_unavailable */
export function sweepNow(deps: ArtifactsDeps): ArtifactsHandlers["sweep"] {
  return async ({ dryRun }) => {
    const { sessions, versionsExpired, versionsPurged, objects, bytes } = dryRun
      ? await countDue(deps.workerDb)
      : await sweep(deps);
    return {
      sessions: BigInt(sessions),
      versionsExpired: BigInt(versionsExpired),
      versionsPurged: BigInt(versionsPurged),
      objects: BigInt(objects),
      bytes: BigInt(bytes),
    };
  };
}
