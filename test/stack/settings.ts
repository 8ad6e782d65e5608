import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";

// Suites with the same settings share a stack, so a suite takes one of these before it makes its own.

type Settings = Readonly<Record<string, string>>;

/** Expired data is compacted or removed within seconds. */
export const quick: Settings = {
  TIDEMARK_REMOVAL_SECONDS: "1",
  TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: "1",
};

/** The address of a client is the one that a proxy forwards, and share links end after two seconds. */
export const facingTheWorld: Settings = { TIDEMARK_TRUSTED_PROXIES: "127.0.0.1", TIDEMARK_SHARE_TTL: "2" };

const fast = { rate_limit_rps: 1000, rate_limit_burst: 5000, ingest_rate_limit_rps: 1000 };

/** Plans have the limits of the product. */
export const limited: Settings = { TIDEMARK_LIMITS: "on" };

/** The quotas of the free plan where they are small. */
export const FREE = { metric_points: 40, trace_events: 10, runs: 5, included_storage_bytes: 1_000_000 } as const;

/** The free plan has small quotas, no plan a rate limit that a test could reach, and removed artifacts give their space back within seconds. */
export const smallPlans: Settings = {
  ...enforcedPlans({ free: { ...fast, ...FREE }, pro: fast, premium: fast }),
  TIDEMARK_REMOVAL_SECONDS: "1",
  TIDEMARK_ARTIFACT_GRACE_DAYS: "0",
};

/** Writes a file of plans into the folder of this test run, and returns the settings that enforce it. */
export function enforcedPlans(plans: object): Settings {
  const text = JSON.stringify(plans);
  const directory = process.env["TIDEMARK_TEST_STACKS"];
  if (directory === undefined) throw new Error("no folder for stacks: run the tests through npm test");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `plans-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.json`);
  writeFileSync(file, text);
  return { TIDEMARK_LIMITS: "on", TIDEMARK_PLANS_FILE: file };
}

/** Serves the dashboard, as a local start bundles it. */
export async function withDashboard(): Promise<Settings> {
  return { TIDEMARK_DASHBOARD_DIRECTORY: await dashboardFolder() };
}

/** Settings that suites share in split mode, unless they need others: ten processes are not cheap. */
export async function inSplitMode(): Promise<Settings> {
  return { ...quick, ...(await withDashboard()) };
}
