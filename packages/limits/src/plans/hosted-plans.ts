import { type Plans, planTiers, type Plan } from "./plans.ts";

const GIB = 1024 ** 3;
const TIB = 1024 ** 4;

/**
 * The plans of the hosted service (API specification, Rate limits; prices and quotas as its public usage document shows them). It does not show
 * the trace events of the middle plan: 50 million lie between the others as its points do.
 */
export const hostedPlans: Plans = {
  free: {
    label: "Free",
    monthly_base_usd: 0,
    included_seats: 2,
    included_storage_bytes: 2 * GIB,
    projects: 2,
    runs: 100,
    metric_points: 1_000_000,
    trace_events: 100_000,
    api_requests: 500_000,
    api_request_overage_cents_per_million: null,
    rate_limit_rps: 5,
    rate_limit_burst: 30,
    ingest_rate_limit_rps: 2,
    warehouse_kind: "shared",
    min_replica_memory_gb: 8,
    max_replica_memory_gb: 8,
    num_replicas: 1,
  },
  pro: {
    label: "Pro",
    monthly_base_usd: 199,
    included_seats: 3,
    included_storage_bytes: TIB,
    projects: 100,
    runs: 100_000,
    metric_points: 250_000_000,
    trace_events: 50_000_000,
    api_requests: 25_000_000,
    api_request_overage_cents_per_million: 200,
    rate_limit_rps: 50,
    rate_limit_burst: 250,
    ingest_rate_limit_rps: 25,
    warehouse_kind: "standard",
    min_replica_memory_gb: 12,
    max_replica_memory_gb: 12,
    num_replicas: 1,
  },
  premium: {
    label: "Premium",
    monthly_base_usd: 699,
    included_seats: 10,
    included_storage_bytes: 5 * TIB,
    projects: 500,
    runs: 1_000_000,
    metric_points: 2_000_000_000,
    trace_events: 500_000_000,
    api_requests: 150_000_000,
    api_request_overage_cents_per_million: 100,
    rate_limit_rps: 200,
    rate_limit_burst: 1000,
    ingest_rate_limit_rps: 100,
    warehouse_kind: "dedicated",
    min_replica_memory_gb: 16,
    max_replica_memory_gb: 16,
    num_replicas: 2,
  },
};

const fields = Object.keys(hostedPlans.free) as (keyof Plan)[];
const texts: ReadonlySet<string> = new Set(["label", "warehouse_kind"]);
/** Numbers per second may be fractions; these are not counted either, and may be 0. */
const mayBeZero: ReadonlySet<string> = new Set(["monthly_base_usd", "api_request_overage_cents_per_million"]);
const mayBeFractions: ReadonlySet<string> = new Set([
  "rate_limit_rps",
  "rate_limit_burst",
  "ingest_rate_limit_rps",
  ...mayBeZero,
]);
const TEXT_CHARACTERS_MAX = 64;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readPlan(plan: Readonly<Record<string, unknown>>, tier: string, hosted: Plan): Plan {
  const unknownName = Object.keys(plan).find((name) => !fields.some((field) => field === name));
  if (unknownName !== undefined) throw new Error(`the plans file has an unknown field ${tier}.${unknownName}`);
  const read = { ...hosted } as Record<keyof Plan, unknown>;
  for (const name of fields) {
    const value = plan[name];
    if (value === undefined) continue;
    const fault = faultOf(name, value);
    if (fault !== undefined) throw new Error(`the plans file needs ${fault} as ${tier}.${name}`);
    read[name] = value;
  }
  const whole = read as Plan;
  if (whole.rate_limit_burst < 1) throw new Error(`the plans file needs at least 1 as ${tier}.rate_limit_burst`);
  return whole;
}

/** Returns what a field needs to be, if the value is not. */
function faultOf(name: keyof Plan, value: unknown): string | undefined {
  if (texts.has(name)) {
    const fits = typeof value === "string" && value !== "" && value.length <= TEXT_CHARACTERS_MAX;
    return fits ? undefined : `a text of 1 to ${TEXT_CHARACTERS_MAX} characters`;
  }
  if (name === "api_request_overage_cents_per_million" && value === null) return undefined;
  const isNumber = typeof value === "number" && Number.isFinite(value) && value >= 0;
  if (!isNumber || (value === 0 && !mayBeZero.has(name))) return "a positive number";
  return mayBeFractions.has(name) || Number.isSafeInteger(value) ? undefined : "a whole number";
}

/**
 * Reads plans from the JSON of a file: an object with any of `free`, `pro` and `premium`, each with any fields of `Plan`.
 * What the file leaves out stays as in the hosted plans.
 * @throws Error that names the first fault
 */
export function parsePlans(text: string): Plans {
  let table: unknown;
  try {
    table = JSON.parse(text);
  } catch {
    throw new Error("the plans file is not valid JSON");
  }
  if (!isObject(table)) throw new Error("the plans file must hold a JSON object");
  const unknownName = Object.keys(table).find((name) => !planTiers.some((tier) => tier === name));
  if (unknownName !== undefined) throw new Error(`the plans file names an unknown plan: ${unknownName}`);
  const plans = { ...hostedPlans };
  for (const tier of planTiers) {
    const plan = table[tier];
    if (plan === undefined) continue;
    if (!isObject(plan)) throw new Error(`the plans file needs an object as ${tier}`);
    plans[tier] = readPlan(plan, tier, hostedPlans[tier]);
  }
  return plans;
}
