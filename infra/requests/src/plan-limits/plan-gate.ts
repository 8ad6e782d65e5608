import { LRUCache } from "lru-cache";
import { AppError } from "@tidemark/errors";
import { limitOf, planOf, type Plans, type PlanTarget, hostedPlans, parsePlans } from "@tidemark/limits";
import type { Log } from "@tidemark/telemetry";
import type { Caller } from "../requests.ts";
import { readFileSync } from "node:fs";
import type { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createCall, type Client } from "@tidemark/rpc";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";

/** The owner of a quota, and the plan that sets its size. */
type Owner = Pick<Caller, "orgId" | "planTier">;

/** Refuses writes that would exceed a quota of a plan. */
export type PlanGate = {
  /**
   * Admits `amount` more units of the quota. Call it before storing anything. It returns undefined where memory knows the organization, so that
   * requests do not wait, unless one alone wants a sixteenth of the rest. All processes together admit at most about a second of traffic beyond the limit;
   * an organization that uses half of its quota within half a minute gets, in each process that did not see it, a sixteenth of the rest more.
   * @throws plan_limit_exceeded (API specification, Errors)
   */
  readonly admit: (owner: Owner, amount: number) => Promise<void> | undefined;
};

/** A gate that admits all writes, for installations without limits. */
export const openGate: PlanGate = { admit: () => undefined };

/** Returns a gate that admits the same as `gate`, and counts `bytesEach` bytes of each against `storageGate`. */
export function withStorage(gate: PlanGate, storageGate: PlanGate, bytesEach: number): PlanGate {
  return {
    admit(owner, amount) {
      const admitted = gate.admit(owner, amount);
      const admitBytes = () => storageGate.admit(owner, amount * bytesEach);
      return admitted === undefined ? admitBytes() : admitted.then(admitBytes);
    },
  };
}

type Known = {
  /** The organization's usage at the last reading. */
  used: number;
  readAtMs: number;
  /** The amount admitted here since that reading began, stored or not. */
  own: number;
};

/** A process that has admitted more than this share of the rest reads again: so 16 that write at the same time do not exceed the limit. */
const SHARE = 1 / 16;
/** Milliseconds between two readings of that kind. */
const SHARE_MS = 250;
/** Milliseconds after which a reading is too old once more than half of the quota is used. */
const NEAR_MS = 1000;
/** Milliseconds for which a refusal is repeated without another reading. */
const REFUSED_MS = 1000;
/** Milliseconds after which a reading is too old in any case: a month may have begun. */
const OLD_MS = 30_000;
/** Milliseconds after a failed reading in which requests do not wait for another one. */
const FAILED_MS = 1000;
const ORGANIZATIONS_MAX = 10_000;

/**
 * Creates the gate of one quota. `readUsed` returns an organization's current usage in all processes. Where it cannot be read,
 * requests are admitted: a quota must not lose data of training runs.
 */
export function createPlanGate(options: {
  readonly target: PlanTarget;
  readonly plans: Plans;
  readonly readUsed: (orgId: string) => Promise<number>;
  readonly nowMs: () => number;
  readonly log: Log;
}): PlanGate {
  const { target, plans, readUsed, nowMs, log } = options;
  const organizations = new LRUCache<string, Known>({ max: ORGANIZATIONS_MAX });
  const readings = new Map<string, Promise<Known | undefined>>();
  let failedAtMs = Number.NEGATIVE_INFINITY;

  const read = async (orgId: string): Promise<Known | undefined> => {
    const known = organizations.get(orgId);
    const readAtMs = nowMs();
    const ownBefore = known?.own ?? 0;
    try {
      const used = await readUsed(orgId);
      // Writes in flight when the reading began are in neither number until the next one: better late than refused by mistake.
      const next = { used, readAtMs, own: known === undefined ? 0 : known.own - ownBefore };
      organizations.set(orgId, next);
      return next;
    } catch (error) {
      failedAtMs = nowMs();
      log.warn("a quota cannot be read; requests are admitted meanwhile", { target, error });
      return undefined;
    }
  };

  const readOnce = (orgId: string): Promise<Known | undefined> => {
    let reading = readings.get(orgId);
    if (reading === undefined) {
      reading = read(orgId).finally(() => readings.delete(orgId));
      readings.set(orgId, reading);
    }
    return reading;
  };

  const decide = async ({ orgId, planTier }: Owner, amount: number): Promise<void> => {
    if (nowMs() - failedAtMs < FAILED_MS) return;
    // A reading that began earlier may have missed the latest writes of this process.
    await readings.get(orgId);
    const known = await readOnce(orgId);
    if (known === undefined) return;
    if (known.used + known.own + amount > limitOf(planOf(plans, planTier), target))
      throw exceeded(target, plans, planTier);
    known.own += amount;
  };

  return {
    admit(owner, amount) {
      const known = organizations.get(owner.orgId);
      if (known === undefined) return decide(owner, amount);
      const limit = limitOf(planOf(plans, owner.planTier), target);
      const age = nowMs() - known.readAtMs;
      if (known.used + amount > limit && age < REFUSED_MS) throw exceeded(target, plans, owner.planTier);
      if (known.used + known.own + amount > limit) return decide(owner, amount);
      // An amount this large is worth a reading: other processes may have admitted as much since the last one.
      if (amount > (limit - known.used) * SHARE && age >= SHARE_MS) return decide(owner, amount);
      const own = known.own + amount;
      const isDue =
        age >= (known.used + own > limit / 2 ? NEAR_MS : OLD_MS) ||
        (age >= SHARE_MS && own > (limit - known.used) * SHARE);
      // First, so that amounts admitted here, which the reading may miss, stay counted.
      if (isDue && nowMs() - failedAtMs >= FAILED_MS) void readOnce(owner.orgId);
      known.own = own;
      return undefined;
    },
  };
}

const names: Record<PlanTarget, string> = {
  projects: "projects",
  runs: "runs",
  metric_points: "metric points a month",
  trace_events: "trace events a month",
  storage: "bytes of storage",
};

function exceeded(target: PlanTarget, plans: Plans, planTier: string): AppError {
  const plan = planOf(plans, planTier);
  return new AppError(
    "plan_limit_exceeded",
    `the plan ${plan.label} of your organization allows ${limitOf(plan, target)} ${names[target]}; take a larger plan or write less`,
  );
}

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
