import { underDeadline } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { hideRuns, seeDeleted, showRuns } from "./hidden-rows.sql.ts";
import { lockProject } from "./marked-rows.sql.ts";
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
  /** Resolves when all runs follow, or after `PATIENCE_MS` when there are too many; the work then continues. Never rejects. */
  readonly settle: (orgId: string, projectId: string) => Promise<void>;
  /** Continues work that other processes, or an earlier one, left unfinished. */
  readonly round: () => Promise<void>;
  /** Ends after the current transactions. */
  readonly stop: () => Promise<void>;
};

/** A transaction holds the locks of this many runs, for some tens of milliseconds. */
const BATCH_RUNS = 200;
/** A response waits this long for the runs. */
const PATIENCE_MS = 3000;
/** How long other processes may be away and still learn of every change by asking for new changes. */
const VISIBILITY_HOURS = 24;

const NIL = "00000000-0000-0000-0000-000000000000";

/** Creates a deletion propagator. A later round retries work that fails. */
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
        // With the project locked, no run can be added, and no request deletes or restores it.
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
      // The work does not belong to the request: it continues after the response.
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
