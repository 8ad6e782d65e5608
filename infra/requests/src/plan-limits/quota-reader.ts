import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createCall, type Client } from "@tidemark/rpc";

const TIMEOUT_MS = 1000;

/** Returns the function that reads one quota for a gate: from the service that knows the usage. */
export function quotaReader(
  usage: Pick<Client<(typeof UsageService)["method"]>, "getQuotaUse">,
  quota: Quota,
): (orgId: string) => Promise<number> {
  return async (orgId) => {
    const call = createCall({ timeoutMs: TIMEOUT_MS, identity: create(IdentitySchema, { orgId }) });
    return Number((await usage.getQuotaUse({ quota }, call)).used);
  };
}
