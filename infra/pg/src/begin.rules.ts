/**
 * How PostgreSQL may plan the statements of a transaction. `walks`: a page in an order is read by walking the index of that order, never by sorting
 * what the planner takes for few rows, if there is such an index. `by values`: the same, and statements of `plannedSql` get a plan for their
 * values. Default: one plan for all values.
 */
export type Plans = "walks" | "by values";

/**
 * PostgreSQL plans for the average tenant, and for tables as small as they were then, but one plan has to serve every tenant, with any statistics.
 * So plans do not depend on values, and those that read a whole table, or all rows of an organization, to join a few of them are not
 * considered. ADR 20 describes how statements are written for that.
 */
export const ONE_PLAN = [
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_seqscan=off",
  "-c enable_hashjoin=off",
  "-c enable_mergejoin=off",
];

const WALKS = "; SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off";

const SETTINGS_OF_PLANS: Readonly<Record<Plans, string>> = {
  walks: WALKS,
  // The plan that reads the fewest rows wins: rows with long texts cost far more to compare than PostgreSQL assumes.
  "by values": `${WALKS}; SET LOCAL plan_cache_mode = auto; SET LOCAL cpu_tuple_cost = 10`,
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Milliseconds that a transaction of `streamTenant` waits for rows to be taken: time for 100 KB/s to take a batch of some megabytes. */
const STREAM_IDLE_MS_MAX = 60_000;

const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** Returns the SQL that begins a transaction that writes for an organization. @throws Error for an id that is not a UUID, here and below */
export function beginWrite(orgId: string, plans: Plans | undefined): string {
  return `BEGIN; ${enter(orgId)}${settingsOf(plans)}`;
}

/** Returns the SQL that begins a transaction that sees one moment of an organization. */
export function beginRead(orgId: string, plans: Plans | undefined): string {
  return `${BEGIN_READ}; ${enter(orgId)}${settingsOf(plans)}`;
}

/** As `beginRead`, for rows that are passed on as they are read. */
export function beginStream(orgId: string, plans: Plans | undefined): string {
  const idle = `SET LOCAL idle_in_transaction_session_timeout = ${STREAM_IDLE_MS_MAX}`;
  return `${BEGIN_READ}; ${enter(orgId)}; ${idle}${settingsOf(plans)}`;
}

function settingsOf(plans: Plans | undefined): string {
  return plans === undefined ? "" : SETTINGS_OF_PLANS[plans];
}

function enter(orgId: string): string {
  if (!UUID.test(orgId)) throw new Error("a tenant transaction needs an organization id");
  return `SET LOCAL app.org_id = '${orgId}'`;
}
