/** Tiers from the smallest to the largest. */
export const planTiers = ["free", "pro", "premium"] as const;

/** The name of a plan. */
export type PlanTier = (typeof planTiers)[number];

/** What a plan allows, in fields with the names of the usage document. */
export type Plan = {
  /** Requests per second, and simultaneously (burst). */
  readonly rate_limit_rps: number;
  readonly rate_limit_burst: number;
  readonly ingest_rate_limit_rps: number;
  /** People, pending invitations counted. */
  readonly included_seats: number;
  /** How many an organization may have. */
  readonly projects: number;
  readonly runs: number;
};

/** Every plan. */
export type Plans = Readonly<Record<PlanTier, Plan>>;

/** The plans of the hosted service (API specification, Rate limits). */
export const hostedPlans: Plans = {
  free: {
    rate_limit_rps: 5,
    rate_limit_burst: 30,
    ingest_rate_limit_rps: 2,
    included_seats: 2,
    projects: 2,
    runs: 100,
  },
  pro: {
    rate_limit_rps: 50,
    rate_limit_burst: 250,
    ingest_rate_limit_rps: 25,
    included_seats: 3,
    projects: 100,
    runs: 100_000,
  },
  premium: {
    rate_limit_rps: 200,
    rate_limit_burst: 1000,
    ingest_rate_limit_rps: 100,
    included_seats: 10,
    projects: 500,
    runs: 1_000_000,
  },
};

/** Returns the plan of a tier; an unknown name counts as the smallest tier. */
export function planOf(plans: Plans, tier: string): Plan {
  return plans[planTiers.find((known) => known === tier) ?? "free"];
}

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
 * Tells whether an organization in this state may read, finish and stop what it has, but not add anything new (API
 * specification, Errors, payment_required).
 */
export function awaitsPayment(billingState: string): boolean {
  return unpaid.has(billingState);
}
