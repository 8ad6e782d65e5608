import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { underDeadline } from "@tidemark/work";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import { followRuns, forgetMoved, listMoved, listMovedOrganizations } from "./moved-runs.sql.ts";

/** Makes rows that other services keep of moved runs follow them: objects, artifacts, edges, traces, and what imports know. */
export type RunFollower = {
  /** Resolves when all rows of an organization follow, or after `PATIENCE_MS` when there are too many; the work then continues. Never rejects. */
  readonly settle: (orgId: string) => Promise<void>;
  /** Continues work that other processes, or an earlier one, left unfinished. */
  readonly round: () => Promise<void>;
  /** Ends after the current transaction. */
  readonly stop: () => Promise<void>;
};

/** Runs of a transaction, and rows of each kind that it changes. */
const BATCH_RUNS = 100;
const BATCH_ROWS = 5000;
/** A response waits this long for the rows. */
const PATIENCE_MS = 3000;
/**
 * A write that looked up its run before the move ends within this time: requests end after ten seconds, and processes that cannot learn of the move
 * forget their runs after eight.
 */
const WATCHED_SECONDS = 30;

const NIL = "00000000-0000-0000-0000-000000000000";

/** Creates a follower. `watchedSeconds` is how long moved runs are looked at. A later round retries work that fails. */
export function createRunFollower({
  db,
  log,
  watchedSeconds = WATCHED_SECONDS,
}: {
  readonly db: Db;
  readonly log: Log;
  readonly watchedSeconds?: number;
}): RunFollower {
  let isStopped = false;
  const running = new Set<Promise<void>>();

  /** Makes the rows of a page of runs follow, a batch in each transaction. Returns the last run; undefined: there was none. */
  const followPage = async (orgId: string, after: string): Promise<string | undefined> => {
    for (;;) {
      const page = await db.withTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        const moved = await listMoved(tx, orgId, after, BATCH_RUNS);
        const there = moved.flatMap(({ id, projectId }) => (projectId === null ? [] : [{ id, projectId }]));
        const followed = there.length === 0 ? 0 : await followRuns(tx, orgId, there, BATCH_ROWS);
        const ids = moved.map(({ id }) => id);
        if (followed === 0 && ids.length > 0) await forgetMoved(tx, orgId, ids, watchedSeconds);
        return { followed, last: ids.at(-1) };
      });
      if (page.followed === 0 || isStopped) return page.last;
    }
  };

  const work = (orgId: string): Promise<void> => {
    const follow = async (): Promise<void> => {
      for (let after: string | undefined = NIL; after !== undefined && !isStopped;)
        after = await followPage(orgId, after);
    };
    const done = follow()
      .catch((error: unknown) => log.warn("rows do not follow their moved runs yet", { error, orgId }))
      .finally(() => running.delete(done));
    running.add(done);
    return done;
  };

  return {
    async settle(orgId) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE_MS);
      });
      // The work does not belong to the request: it continues after the response.
      await Promise.race([underDeadline(undefined, () => work(orgId)), patience]);
      clearTimeout(timer);
    },
    async round() {
      for (const orgId of await listMovedOrganizations(db)) await work(orgId);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
