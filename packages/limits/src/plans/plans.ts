/** Tiers from the smallest to the largest. */
export const planTiers = ["free", "pro", "premium"] as const;

/** The name of a plan. */
export type PlanTier = (typeof planTiers)[number];

/** The limits of a plan, in fields with the names of the usage document. Months are calendar months in UTC. */
export type Plan = {
  /** The name that people see. */
  readonly label: string;
  /** The price of a month in US dollars. */
  readonly monthly_base_usd: number;
  /** People, pending invitations counted. */
  readonly included_seats: number;
  /** Bytes that an organization may store. */
  readonly included_storage_bytes: number;
  /** How many an organization may have. */
  readonly projects: number;
  readonly runs: number;
  /** Metric values that an organization may write in a month, those of ranks included. */
  readonly metric_points: number;
  /** Trace events that an organization may write in a month. */
  readonly trace_events: number;
  /** Requests of a month. */
  readonly api_requests: number;
  /** The price of a million requests above `api_requests`, in US cents; null: requests above it are refused. */
  readonly api_request_overage_cents_per_million: number | null;
  /** Requests per second, and simultaneously (burst). */
  readonly rate_limit_rps: number;
  readonly rate_limit_burst: number;
  readonly ingest_rate_limit_rps: number;
  /** Where the hosted service keeps the data of such organizations; for people only. */
  readonly warehouse_kind: string;
  readonly min_replica_memory_gb: number;
  readonly max_replica_memory_gb: number;
  readonly num_replicas: number;
};

/** Every plan. */
export type Plans = Readonly<Record<PlanTier, Plan>>;

/** Returns the name of a tier; an unknown name counts as the smallest tier. */
export function tierOf(tier: string): PlanTier {
  return planTiers.find((known) => known === tier) ?? "free";
}

/** Returns the plan of a tier; an unknown name counts as the smallest tier. */
export function planOf(plans: Plans, tier: string): Plan {
  return plans[tierOf(tier)];
}

/** Quotas that are blocked at their limit with `plan_limit_exceeded`, in the order in which they are checked. */
export const planTargets = ["projects", "runs", "metric_points", "trace_events", "storage"] as const;

/** A quota of a plan. */
export type PlanTarget = (typeof planTargets)[number];

/** Returns how much of something a plan allows. */
export function limitOf(plan: Plan, target: PlanTarget): number {
  return target === "storage" ? plan.included_storage_bytes : plan[target];
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
 * Returns whether an organization in this state may read and stop what it has, but not add or change anything (API
 * specification, Errors, payment_required).
 */
export function awaitsPayment(billingState: string): boolean {
  return unpaid.has(billingState);
}
