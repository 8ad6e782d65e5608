import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { CountedRequests } from "@tidemark/proto/usage/v1/usage";
import type { UsageDeps, UsageHandlers } from "../deps.ts";
import { addRequests, countGateways, noteGateway, readTotals } from "./month-requests.sql.ts";

const COUNTS_MAX = 10_000;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/**
 * UsageService.ReportRequests. The number of the report and its counts are committed together, so a report that is sent again after a lost response adds
 * nothing.
 * @throws bad_request for more than 10,000 counts, and for invalid ids and months
 */
export function reportRequests({ workerDb }: Pick<UsageDeps, "workerDb">): UsageHandlers["reportRequests"] {
  return async ({ gatewayId, sequence, counts, leaving }) => {
    if (!isUuid(gatewayId)) throw badRequest("the gateway's id must be a UUID", "gateway_id");
    if (counts.length > COUNTS_MAX) throw badRequest(`a report has at most ${COUNTS_MAX} counts`, "counts");
    for (const count of counts) checkCount(count);
    return workerDb.transaction(async (tx) => {
      const isNew = await noteGateway(tx, { gatewayId, sequence: Number(sequence), leaving });
      if (isNew && counts.length > 0) await addRequests(tx, counts);
      const totals = counts.length === 0 ? [] : await readTotals(tx, counts);
      return {
        gateways: Math.max(1, await countGateways(tx)),
        totals: totals.map((total) => ({ ...total, requests: BigInt(total.requests) })),
      };
    });
  };
}

function checkCount({ orgId, month }: CountedRequests): void {
  if (!isUuid(orgId) || !MONTH.test(month)) throw badRequest("a count needs an organization and a month", "counts");
}
