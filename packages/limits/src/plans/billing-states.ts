/** Every billing state of an organization. Operators set it: there is no payment provider. */
export const billingStates = [
  "free_active",
  "checkout_pending",
  "paid_active",
  "past_due_grace",
  "read_only_payment_required",
  "canceled",
] as const;

/** Whether an organization has paid. */
export type BillingState = (typeof billingStates)[number];

const unpaid: ReadonlySet<string> = new Set<BillingState>([
  "checkout_pending",
  "read_only_payment_required",
  "canceled",
]);

/**
 * Returns whether an organization in this state may read and stop what it has, but not add or change anything (API
 * specification, Errors, payment_required).
 */
export function awaitsPayment(billingState: string): boolean {
  return unpaid.has(billingState);
}
