import { getUsage, getQuotaUse } from "./document/get-usage.ts";
import { leaseTokens } from "./leases/lease-tokens.ts";
import { reportRequests } from "./requests/report-requests.ts";
import type { UsageDeps, UsageHandlers } from "./deps.ts";

/** Every RPC of the service. */
export function usageHandlers(deps: UsageDeps): UsageHandlers {
  return {
    leaseTokens: leaseTokens(deps),
    reportRequests: reportRequests(deps),
    getQuotaUse: getQuotaUse(deps),
    getUsage: getUsage(deps),
  };
}
