import { callerOf } from "@tidemark/requests";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob } from "./get-job.ts";
import { listJobParts, listJobs as listRows } from "./jobs.sql.ts";

/** Runs and chunks that a list shows of each import. */
const PARTS_MAX = 100;

/** ImportsService.ListJobs: the newest first; a project-scoped key sees imports into its project. */
export function listJobs({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["listJobs"] {
  return async (_request, call) => {
    const { orgId, projectId } = callerOf(call);
    return db.readTenant(
      orgId,
      async (tx) => {
        const rows = await listRows(tx, orgId, projectId);
        const ids = rows.map(({ id }) => id);
        const parts = new Map((await listJobParts(tx, orgId, ids, PARTS_MAX)).map((part) => [part.id, part]));
        return { jobs: rows.map((row) => encodeJob(row, parts.get(row.id)!)) };
      },
      { plans: "walks" },
    );
  };
}
