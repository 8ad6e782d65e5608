import type { Db } from "@tidemark/pg";
import { LRUCache } from "lru-cache";
import { canSee, runNotFound, type Caller, type RunRef } from "../domain/caller.ts";
import { findRunRefs } from "./find-run-refs.ts";

/**
 * Which runs exist, and where. Neither ever changes, so what was found once is kept; that a run does
 * not exist is never kept, because it may a moment later.
 */
export type RunDirectory = {
  /** Whether the run is known to exist. @throws not_found when it is and the caller may not see it */
  knows(caller: Caller, runId: string): boolean;
  /** Keeps what a write found out. */
  learn(runId: string, run: RunRef): void;
  /** @throws not_found unless all the runs exist and the caller may see them */
  require(caller: Caller, runIds: readonly string[]): Promise<void>;
};

/** A directory that keeps the `runsMax` runs that were asked for last. */
export function createRunDirectory(db: Db, runsMax: number): RunDirectory {
  const runs = new LRUCache<string, RunRef>({ max: runsMax });

  const knows: RunDirectory["knows"] = (caller, runId) => {
    const run = runs.get(runId);
    if (run === undefined) return false;
    // Run ids are unique in the whole installation, so a run of somebody else is never also ours.
    if (!canSee(caller, run)) throw runNotFound();
    return true;
  };

  return {
    knows,
    learn: (runId, run) => {
      runs.set(runId, run);
    },
    async require(caller, runIds) {
      const unknown = [...new Set(runIds)].filter((runId) => !knows(caller, runId));
      if (unknown.length === 0) return;
      const found = await db.withTenant(caller.orgId, (tx) => findRunRefs(tx, caller.orgId, unknown));
      for (const { id, projectId } of found) runs.set(id, { orgId: caller.orgId, projectId });
      if (found.length < unknown.length || found.some((run) => !canSee(caller, { orgId: caller.orgId, ...run }))) {
        throw runNotFound();
      }
    },
  };
}
