import { readFileSync } from "node:fs";
import { hostedPlans, parsePlans, type Plans, type PlanTarget } from "@tidemark/limits";
import type { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createCall, type Client } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createPlanGate, openGate, type PlanGate } from "./plan-gate.ts";

/** Returns the gate of a quota by the settings of a module: the usage service reports what organizations have used. */
export function gateOfSettings(
  settings: { readonly limits: boolean; readonly plansFile: string | undefined },
  of: {
    readonly target: PlanTarget;
    readonly quota: Quota;
    readonly usage: Pick<Client<(typeof UsageService)["method"]>, "getQuotaUse">;
    readonly log: Log;
  },
): PlanGate {
  if (!settings.limits) return openGate;
  const { target, quota, usage, log } = of;
  return createPlanGate({
    target,
    plans: loadPlans(settings.plansFile),
    readUsed: quotaReader(usage, quota),
    nowMs: () => performance.now(),
    log,
  });
}

/** Returns the plans of this installation: the plans in the file, or the hosted ones. @throws Error that says what is wrong with the file */
export function loadPlans(file: string | undefined): Plans {
  return file === undefined ? hostedPlans : parsePlans(readFileSync(file, "utf8"));
}

const TIMEOUT_MS = 1000;

/** Returns the function that reads one quota for a gate: from the service that knows the usage. */
function quotaReader(
  usage: Pick<Client<(typeof UsageService)["method"]>, "getQuotaUse">,
  quota: Quota,
): (orgId: string) => Promise<number> {
  return async (orgId) => {
    const call = createCall({ timeoutMs: TIMEOUT_MS, identity: create(IdentitySchema, { orgId }) });
    return Number((await usage.getQuotaUse({ quota }, call)).used);
  };
}
