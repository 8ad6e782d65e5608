import type { PlanTarget } from "@tidemark/limits";
import type { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import type { Client } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { loadPlans } from "./load-plans.ts";
import { createPlanGate, openGate, type PlanGate } from "./plan-gate.ts";
import { quotaReader } from "./quota-reader.ts";

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
