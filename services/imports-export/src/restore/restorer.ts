import { startRounds, startRunner } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { listOldArchives, lockArchive, removeArchive, type ArchiveName } from "./archives.sql.ts";
import { listDueArchives } from "./restore.sql.ts";
import { runRestore, type RunRestoreDeps } from "./run-restore.ts";

/** How often a process looks for restores that no process works on. The process that took the last piece does not wait for this. */
const LOOK_MS = 2000;
const SWEEP_MS = 600_000;
const OLD_TOGETHER = 100;

/** Dependencies of the restorer of a process. */
export type RestorerDeps = RunRestoreDeps & {
  readonly workerDb: Db;
  /** Restores that a process works on simultaneously, of different organizations. */
  readonly restoresMax: number;
};

/** The restores of a process. */
export type Restorer = {
  /** Begins a restore, now or when there is room. */
  begin(archive: ArchiveName): void;
  /** Takes no more restores, and lets other processes continue its own after their current piece. */
  drain(): Promise<void>;
};

/** Starts to restore archives. */
export function startRestorer(deps: RestorerDeps): Restorer {
  const { workerDb, log, restoresMax } = deps;
  const onError = (error: unknown): void => log.warn("archives could not be worked on now", { error });
  const restores = startRunner<ArchiveName>({
    // By organization, so that none takes the turns of all others.
    keyOf: ({ orgId }) => orgId,
    jobsMax: restoresMax,
    lookMs: LOOK_MS,
    listDue: (jobsMax) => listDueArchives(workerDb, jobsMax),
    run: (archive, isStopped) => runRestore(deps, archive, isStopped),
    onError,
  });
  const sweeps = startRounds({ everyMs: SWEEP_MS, round: () => removeOldArchives(deps), onError });
  return {
    begin: (archive) => void restores.begin(archive),
    drain: async () => void (await Promise.all([restores.drain(), sweeps.stop()])),
  };
}

/** Removes the remains of abandoned archives, and the answers of old ones. */
async function removeOldArchives({ db, workerDb }: RestorerDeps): Promise<void> {
  for (const name of await listOldArchives(workerDb, RESTORE_LIMITS.keptHours, OLD_TOGETHER)) {
    await db.withTenant(name.orgId, async (tx) => {
      const archive = await lockArchive(tx, name);
      if (archive !== undefined && archive.status !== "restoring") await removeArchive(tx, name);
    });
  }
}
