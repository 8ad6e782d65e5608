import { isAppError } from "@tidemark/errors";
import { refuseUnpaid, type Caller } from "../requests.ts";
import type { PlanGate } from "./plan-gate.ts";

const refusals: ReadonlySet<string> = new Set(["payment_required", "plan_limit_exceeded"]);

/** Whether an error says that the organization may not store anything, or not this much. */
export function isPlanRefusal(error: unknown): boolean {
  return isAppError(error) && refusals.has(error.reason);
}

/**
 * Admits a write of `amount` units of the gate's quota. A repeat of a write that was stored before is always admitted, so that it gets its first answer:
 * `wasStored` is asked only where the write would be refused. Returns undefined if there is no promise to wait for.
 * @throws payment_required, plan_limit_exceeded
 */
export function admitWrite(
  gate: PlanGate,
  caller: Pick<Caller, "orgId" | "planTier" | "billingState">,
  amount: number,
  wasStored: () => Promise<boolean>,
): Promise<void> | undefined {
  return unlessStored(wasStored, () => {
    refuseUnpaid(caller);
    return gate.admit(caller, amount);
  });
}

/** Admits a write as `admitWrite` does, in any state of the account. @throws plan_limit_exceeded */
export function admitWithin(
  gate: PlanGate,
  caller: Pick<Caller, "orgId" | "planTier">,
  amount: number,
  wasStored: () => Promise<boolean>,
): Promise<void> | undefined {
  return unlessStored(wasStored, () => gate.admit(caller, amount));
}

/**
 * Admits bytes that replace others. Where they would be refused as new ones, the replaced bytes decide: a change that does not grow is always admitted.
 * `replaced` is asked only then. @throws plan_limit_exceeded
 */
export async function admitChange(
  gate: PlanGate,
  caller: Pick<Caller, "orgId" | "planTier">,
  bytes: number,
  replaced: () => Promise<number>,
): Promise<void> {
  await admitWithin(gate, caller, bytes, async () => {
    const growth = bytes - (await replaced());
    if (growth > 0) await gate.admit(caller, growth);
    return true;
  });
}

function unlessStored(
  wasStored: () => Promise<boolean>,
  admit: () => Promise<void> | undefined,
): Promise<void> | undefined {
  const forgive = async (error: unknown): Promise<void> => {
    if (!isPlanRefusal(error) || !(await wasStored())) throw error;
  };
  try {
    return admit()?.catch(forgive);
  } catch (error) {
    return forgive(error);
  }
}
