import type { Db } from "@tidemark/pg";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { listOldArchives, lockArchive, removeArchive, type ArchiveName } from "./archives.sql.ts";
import { listDueArchives } from "./restore.sql.ts";
import { runRestore, type RunRestoreDeps } from "./run-restore.ts";

/** How often a process looks for restores that nobody works on. The process that has taken the last piece does not wait for that. */
const LOOK_MS = 2000;
const SWEEP_MS = 600_000;
const OLD_TOGETHER = 100;

/** What the restorer of a process works with. */
export type RestorerDeps = RunRestoreDeps & {
  readonly workerDb: Db;
  /** Restores that a process works on simultaneously, of different organizations. */
  readonly restoresMax: number;
};

/** The restores of a process. */
export type Restorer = {
  /** Begins with a restore, now or when there is room. */
  begin(archive: ArchiveName): void;
  /** Takes no more restores and lets others go on with its own after their current piece. */
  drain(): Promise<void>;
};

/** Starts to restore archives. */
export function startRestorer(deps: RestorerDeps): Restorer {
  const { workerDb, log, restoresMax } = deps;
  /** By organization, so that nobody takes the turns of all others. */
  const running = new Map<string, Promise<void>>();
  let stopped = false;

  const begin = (archive: ArchiveName): void => {
    const { orgId } = archive;
    if (stopped || running.has(orgId) || running.size >= restoresMax) return;
    const work = runRestore(deps, archive, () => stopped)
      .catch((error: unknown) => log.warn("an archive could not be restored now", { error }))
      .finally(() => {
        running.delete(orgId);
        lookNow();
      });
    running.set(orgId, work);
  };
  const look = async (): Promise<void> => {
    const free = restoresMax - running.size;
    if (stopped || free <= 0) return;
    for (const archive of await listDueArchives(workerDb, free)) begin(archive);
  };
  const lookNow = (): void =>
    void look().catch((error: unknown) => log.warn("archives could not be looked for", { error }));
  const every = (ms: number, round: () => Promise<void>): NodeJS.Timeout => {
    const work = (): void =>
      void round().catch((error: unknown) => log.warn("archives could not be looked for", { error }));
    const timer = setInterval(work, ms);
    timer.unref();
    work();
    return timer;
  };
  const timers = [every(LOOK_MS, look), every(SWEEP_MS, () => removeOldArchives(deps))];
  return {
    begin,
    async drain() {
      stopped = true;
      timers.forEach(clearInterval);
      await Promise.all(running.values());
    },
  };
}

/** Removes what is left of archives that nobody goes on with, and the answers of old ones. */
async function removeOldArchives({ db, workerDb }: RestorerDeps): Promise<void> {
  for (const name of await listOldArchives(workerDb, RESTORE_LIMITS.keptHours, OLD_TOGETHER)) {
    await db.withTenant(name.orgId, async (tx) => {
      const archive = await lockArchive(tx, name);
      if (archive !== undefined && archive.status !== "restoring") await removeArchive(tx, name);
    });
  }
}
