import { badRequest } from "@tidemark/errors";
import type { TokenLease } from "@tidemark/proto/usage/v1/usage";
import type { UsageDeps, UsageHandlers } from "../deps.ts";
import { leaseFromBuckets } from "./token-buckets.sql.ts";

const LEASES_MAX = 1000;

/**
 * UsageService.LeaseTokens. Tokens are taken before they are used, so a gateway that dies with unused tokens costs its organization some, and no number
 * of gateways admits more than a bucket held.
 * @throws bad_request for no lease, more than 1,000, two of one bucket, and numbers that no bucket can have
 */
export function leaseTokens({ workerDb }: Pick<UsageDeps, "workerDb">): UsageHandlers["leaseTokens"] {
  return async ({ leases }) => {
    if (leases.length === 0 || leases.length > LEASES_MAX) throw badRequest(`1 to ${LEASES_MAX} leases share a call`);
    for (const lease of leases) checkLease(lease);
    if (new Set(leases.map(keyOf)).size !== leases.length) throw badRequest("two leases are of one bucket");
    const { rows, month } = await leaseFromBuckets(workerDb, leases);
    const byBucket = new Map(rows.map((row) => [keyOf(row), row]));
    return {
      month,
      leased: leases.map((lease) => {
        const { leased, left, monthRequests } = byBucket.get(keyOf(lease))!;
        return { tokens: leased, left, monthRequests: BigInt(monthRequests) };
      }),
    };
  };
}

function checkLease({ perSecond, burst, wanted }: TokenLease): void {
  if (perSecond > 0 && Number.isFinite(perSecond) && burst >= 1 && Number.isFinite(burst) && wanted >= 1) return;
  throw badRequest("a bucket has a rate above 0 and holds at least one token, and at least one is wanted");
}

function keyOf({ orgId, bucket }: { readonly orgId: string; readonly bucket: string }): string {
  return `${orgId} ${bucket}`;
}
