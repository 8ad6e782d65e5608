import { readAudit } from "./audit.rules.ts";
import { runPnpm } from "./run-pnpm.ts";

const LIMIT_MS = 60_000;

/** How the audit of the production packages ended; with `unasked` the registry could not be asked, and why. */
export type AuditResult = { readonly exitCode: number; readonly output: string; readonly unasked?: string };

/** Asks the configured registry for advisories about the locked production packages. One of severity high or critical fails. */
export async function auditDependencies(root: string): Promise<AuditResult> {
  const { output } = await runPnpm(root, ["audit", "--prod", "--json"], LIMIT_MS);
  const audit = readAudit(output);
  if ("unasked" in audit) return { exitCode: 0, output: "", unasked: audit.unasked };
  return { exitCode: audit.advisories.length === 0 ? 0 : 1, output: audit.advisories.join("\n") };
}
