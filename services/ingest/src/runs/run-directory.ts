import { notFound } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { canSee, type Caller } from "@tidemark/requests";
import { LRUCache } from "lru-cache";
import { findRunRefs } from "./run-refs.sql.ts";

/** The organization and the project that own a run. Neither ever changes. */
export type RunRef = { readonly orgId: string; readonly projectId: string };

/**
 * Which runs exist, and who owns them. Neither ever changes, so the directory keeps what it found once. It never keeps that a run does not
 * exist, because the run may exist a moment later.
 */
export type RunDirectory = {
  /** Tells whether the run is known to exist. @throws not_found when it is and the caller may not see it */
  knows(caller: Caller, runId: string): boolean;
  /** Keeps what a write found out. */
  learn(runId: string, run: RunRef): void;
  /** @throws not_found unless all the runs exist and the caller may see them */
  require(caller: Caller, runIds: readonly string[]): Promise<void>;
};

/** Creates a directory that keeps the `runsMax` most recently used runs. */
export function createRunDirectory(db: Db, runsMax: number): RunDirectory {
  const runs = new LRUCache<string, RunRef>({ max: runsMax });

  const knows: RunDirectory["knows"] = (caller, runId) => {
    const run = runs.get(runId);
    if (run === undefined) return false;
    // Run ids are unique in the whole installation, so a run of another organization never has the id of one of ours.
    if (!canSee(caller, run)) throw notFound("run");
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
        throw notFound("run");
      }
    },
  };
}
