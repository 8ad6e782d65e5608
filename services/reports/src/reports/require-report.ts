import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { Caller } from "@tidemark/requests";
import { lockReport } from "./reports.sql.ts";

/** The name of a report in errors. */
export const REPORT = "report";

/** Returns whether a caller may know of a report. A caller of one project knows of no report that belongs to none. */
export function canSeeReport(
  { orgId, projectId }: Pick<Caller, "orgId" | "projectId">,
  row: { readonly orgId: string; readonly projectId: string | null },
): boolean {
  return row.orgId === orgId && (projectId === undefined || row.projectId === projectId);
}

/** Locks a report for a change, and returns its project. @throws not_found unless it exists and the caller may know of it */
export async function lockForChange(tx: Tx, caller: Caller, reportId: string): Promise<{ projectId: string | null }> {
  const owner = await lockReport(tx, caller.orgId, reportId);
  if (owner === undefined || !canSeeReport(caller, owner)) throw notFound(REPORT);
  return owner;
}
