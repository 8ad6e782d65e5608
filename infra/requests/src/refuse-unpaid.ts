import { AppError } from "@tidemark/errors";
import { awaitsPayment } from "@tidemark/limits";
import type { Caller } from "./requests.ts";

/** Refuses writes while a payment is due (API specification, Errors). @throws payment_required */
export function refuseUnpaid({ billingState }: Pick<Caller, "billingState">): void {
  if (!awaitsPayment(billingState)) return;
  throw new AppError("payment_required", "the organization needs a billing action before it can write anything new");
}
