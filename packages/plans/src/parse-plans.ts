import { hostedPlans, planTiers, type Plan, type Plans } from "./plans.ts";

const fields = Object.keys(hostedPlans.free) as (keyof Plan)[];
const counts: ReadonlySet<string> = new Set(["included_seats", "projects", "runs"]);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readPlan(plan: Readonly<Record<string, unknown>>, tier: string, hosted: Plan): Plan {
  const unknownName = Object.keys(plan).find((name) => !fields.some((field) => field === name));
  if (unknownName !== undefined) throw new Error(`the plans file has an unknown field ${tier}.${unknownName}`);
  const read = { ...hosted } as Record<keyof Plan, number>;
  for (const name of fields) {
    const value = plan[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
      throw new Error(`the plans file needs a positive number as ${tier}.${name}`);
    }
    if (counts.has(name) && !Number.isInteger(value)) {
      throw new Error(`the plans file needs a whole number as ${tier}.${name}`);
    }
    read[name] = value;
  }
  if (read.rate_limit_burst < 1) throw new Error(`the plans file needs at least 1 as ${tier}.rate_limit_burst`);
  return read;
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
