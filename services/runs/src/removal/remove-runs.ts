import { inBatches, type Db, type Removal } from "@tidemark/pg";
import {
  beginRemovalOfHiddenRuns,
  beginRemovalOfProject,
  beginRemovalOfRuns,
  closeProject,
  listDueProjects,
  listDueRuns,
  removeProjectRow,
  removeRowsOfOrganization,
  removeRunRow,
} from "./removed-rows.sql.ts";

/** Removes a run, a project or a whole organization from this service. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeRuns(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "run") await db.withTenant(orgId, (tx) => removeRunRow(tx, orgId, id));
  else if (kind === "project") await db.withTenant(orgId, (tx) => removeProjectRow(tx, orgId, id));
  else await removeRowsOfOrganization(db, orgId);
  return true;
}

/** A transaction holds the locks of this many runs. */
const BATCH_RUNS = 200;

/**
 * Finds the runs and projects whose time is over, of all organizations, and asks the services to remove them: first the runs of a project, and once
 * they are removed the project. Each step may be repeated, also by several processes. `db` runs as the worker.
 */
export async function beginDueRemovals(db: Db): Promise<void> {
  for (const { orgId, projectId } of await listDueProjects(db)) {
    await closeProject(db, orgId, projectId);
    await inBatches(BATCH_RUNS, (rowsMax) => beginRemovalOfHiddenRuns(db, orgId, projectId, rowsMax));
    await beginRemovalOfProject(db, orgId, projectId);
  }
  for (;;) {
    const due = await listDueRuns(db, BATCH_RUNS);
    let begun = 0;
    for (const runs of due) begun += await beginRemovalOfRuns(db, runs);
    // If none could be started, another process was faster.
    if (begun === 0) return;
  }
}
