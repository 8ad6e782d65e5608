import { homedir } from "node:os";
import { cacheDirectory, runCaptured } from "@tidemark/local/toolcache";
import { obtainPnpm } from "../launch/tools.mjs";
import { nodeFirst } from "../run-command.ts";
import { readAudit } from "./audit.rules.ts";
import { packagesOf, type LicensedPackage, type PnpmLicenses } from "./licenses.rules.ts";

/** Runs the pinned pnpm in a folder; ends it after `limitMs` milliseconds, which is an exit code other than 0. */
async function runPnpm(
  root: string,
  args: readonly string[],
  limitMs: number,
): Promise<{ code: number; stdout: string; output: string }> {
  const cacheDir = cacheDirectory({ env: process.env, platform: process.platform, home: homedir(), cwd: root });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const signal = AbortSignal.timeout(limitMs);
  try {
    const pnpm = await obtainPnpm({ cacheDir, log, signal });
    return await runCaptured(pnpm, [...args], { cwd: root, env: nodeFirst(), signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { code: 1, stdout: "", output: "no answer in time" };
  }
}

const AUDIT_MS_MAX = 60_000;

/** How the audit of the production packages ended; with `unasked` the registry could not be asked, and why. */
export type AuditResult = { readonly exitCode: number; readonly output: string; readonly unasked?: string };

/** Asks the configured registry for advisories about the locked production packages. One of severity high or critical fails. */
export async function auditDependencies(root: string): Promise<AuditResult> {
  const { output } = await runPnpm(root, ["audit", "--prod", "--json"], AUDIT_MS_MAX);
  const audit = readAudit(output);
  if ("unasked" in audit) return { exitCode: 0, output: "", unasked: audit.unasked };
  return { exitCode: audit.advisories.length === 0 ? 0 : 1, output: audit.advisories.join("\n") };
}

const LICENSES_MS_MAX = 120_000;

/** Reads the installed packages that production runs on. @throws Error with what pnpm said when it could not list them */
export async function readPackages(root: string): Promise<readonly LicensedPackage[]> {
  const { code, stdout, output } = await runPnpm(root, ["licenses", "list", "-r", "--prod", "--json"], LICENSES_MS_MAX);
  const packages = code === 0 ? packagesOf(JSON.parse(stdout) as PnpmLicenses) : [];
  if (packages.length === 0) throw new Error(`pnpm listed no packages: ${output.trim()}`);
  return packages;
}
