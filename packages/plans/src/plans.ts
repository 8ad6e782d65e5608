/** Tiers from the smallest to the largest. */
export const planTiers = ["free", "pro", "premium"] as const;

/** The name of a plan. */
export type PlanTier = (typeof planTiers)[number];

/** What a plan allows, by the names that the usage document gives the fields. */
export type Plan = {
  /** Requests a second, and at once. */
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

/** The plan of a tier; a name that is none counts as the smallest. */
export function planOf(plans: Plans, tier: string): Plan {
  return plans[planTiers.find((known) => known === tier) ?? "free"];
}
