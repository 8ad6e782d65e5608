import { underDeadline } from "@tidemark/deadline";
import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { hideRuns, seeDeleted, showRuns } from "./hidden-rows.sql.ts";
import { lockProject } from "./marked-projects.sql.ts";
import {
  forgetVisibilityChanges,
  listUnsettled,
  lockRunsThatAre,
  markSettled,
  markTextsSettled,
  readWork,
  renameTexts,
} from "./unsettled-projects.sql.ts";

/** Makes the runs of a project follow it when it was deleted, restored or renamed. */
export type DeletionPropagator = {
  /** Resolves when all runs follow, or earlier when they are so many that it takes longer than `PATIENCE_MS`; the work then goes on. Never rejects. */
  readonly settle: (orgId: string, projectId: string) => Promise<void>;
  /** Goes on with what other processes, or an earlier one, left. */
  readonly round: () => Promise<void>;
  /** Ends after the current transactions. */
  readonly stop: () => Promise<void>;
};

/** A transaction holds the locks of this many runs, for some tens of milliseconds. */
const BATCH_RUNS = 200;
/** An answer waits this long for the runs. */
const PATIENCE_MS = 3000;
/** How long other processes may be away and still learn of every change by asking for what is new. */
const VISIBILITY_HOURS = 24;

const NIL = "00000000-0000-0000-0000-000000000000";

/** Creates a deletionPropagator. Work that fails is done again by a later round. */
export function createDeletionPropagator({ db, log }: { readonly db: Db; readonly log: Log }): DeletionPropagator {
  let isStopped = false;
  const running = new Set<Promise<void>>();

  const moveAll = async (orgId: string, projectId: string): Promise<void> => {
    for (;;) {
      if (isStopped) return;
      const moved = await db.withTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        const work = await readWork(tx, orgId, projectId);
        if (work === undefined || !work.isUnsettled) return 0;
        const ids = await lockRunsThatAre(tx, work.isDeleted ? "visible" : "hidden", orgId, projectId, BATCH_RUNS);
        if (ids.length > 0) return work.isDeleted ? hideRuns(tx, orgId, ids) : showRuns(tx, orgId, ids);
        // With the project locked no run can come, and nobody deletes or restores it.
        const project = await lockProject(tx, orgId, projectId);
        const isDeleted = project?.deleted_at !== null;
        const state = isDeleted ? "visible" : "hidden";
        const left = await lockRunsThatAre(tx, state, orgId, projectId, 1);
        if (left.length === 0) await markSettled(tx, orgId, projectId);
        return left.length;
      });
      if (moved === 0) return;
    }
  };

  const renameAll = async (orgId: string, projectId: string): Promise<void> => {
    const name = await db.withTenant(orgId, async (tx) => {
      await seeDeleted(tx);
      if ((await readWork(tx, orgId, projectId))?.areTextsBehind !== true) return undefined;
      return (await lockProject(tx, orgId, projectId))?.name;
    });
    if (name === undefined) return;
    for (let after = NIL; ;) {
      if (isStopped) return;
      const last = await db.withTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        return renameTexts(tx, orgId, projectId, after, BATCH_RUNS);
      });
      if (last === undefined) break;
      after = last;
    }
    await db.withTenant(orgId, async (tx) => {
      await seeDeleted(tx);
      await markTextsSettled(tx, orgId, projectId, name);
    });
  };

  const work = (orgId: string, projectId: string): Promise<void> => {
    const done = moveAll(orgId, projectId)
      .then(() => renameAll(orgId, projectId))
      .catch((error: unknown) => log.warn("runs do not follow their project yet", { error, orgId, projectId }))
      .finally(() => running.delete(done));
    running.add(done);
    return done;
  };

  return {
    async settle(orgId, projectId) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE_MS);
      });
      // The work is not the request's: it goes on when that has been answered.
      await Promise.race([underDeadline(undefined, () => work(orgId, projectId)), patience]);
      clearTimeout(timer);
    },
    async round() {
      const left = await listUnsettled(db);
      for (const { orgId, projectId } of left) await work(orgId, projectId);
      await forgetVisibilityChanges(db, VISIBILITY_HOURS);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
