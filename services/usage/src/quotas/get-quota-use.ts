import { badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { Quota } from "@tidemark/proto/usage/v1/usage";
import { callerOf } from "@tidemark/requests";
import { readNumbers } from "../document/read-numbers.ts";
import { readIngestUse, readTraceUse } from "../document/numbers.sql.ts";
import type { UsageDeps, UsageHandlers } from "../deps.ts";

/** UsageService.GetQuotaUse. @throws unauthenticated; bad_request for an unknown quota */
export function getQuotaUse({ db }: Pick<UsageDeps, "db">): UsageHandlers["getQuotaUse"] {
  return async ({ quota }, call) => {
    const { orgId } = callerOf(call);
    const read = readers[quota];
    if (read === undefined) throw badRequest("unknown quota", "quota");
    return { used: BigInt(await db.readTenant(orgId, (tx) => read(tx, orgId))) };
  };
}

const readers: Partial<Record<Quota, (tx: Tx, orgId: string) => Promise<number>>> = {
  [Quota.METRIC_POINTS]: async (tx, orgId) => (await readIngestUse(tx, orgId)).monthPoints,
  [Quota.TRACE_EVENTS]: async (tx, orgId) => (await readTraceUse(tx, orgId)).monthEvents,
  [Quota.STORAGE]: async (tx, orgId) => (await readNumbers(tx, orgId)).storageBytes,
};
