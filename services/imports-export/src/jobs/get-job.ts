import { callerOf } from "@tidemark/requests";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob } from "./encode-job.ts";
import { importId, partsOf, requireJob } from "./require-job.ts";

/** ImportsService.GetJob. @throws not_found */
export function getJob({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["getJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = importId(request.importId);
    const job = await db.readTenant(caller.orgId, async (tx) => {
      const row = await requireJob(tx, caller, id, "read");
      return encodeJob(row, await partsOf(tx, row));
    });
    return { job };
  };
}
