import { hostedPlans } from "./hosted-plans.ts";
import { planTiers, type Plan, type Plans } from "./plans.ts";

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
