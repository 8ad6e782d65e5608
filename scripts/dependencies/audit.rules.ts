/** The result of an audit: advisories that forbid a release, or why the audit could not run. */
export type Audit = { readonly advisories: readonly string[] } | { readonly unasked: string };

type Advisory = {
  readonly module_name?: unknown;
  readonly severity?: unknown;
  readonly title?: unknown;
  readonly url?: unknown;
};

const FORBIDDEN = new Set(["high", "critical"]);
const REASON_CHARACTERS = 200;

/**
 * Reads the output of `pnpm audit --json`. Output that is not a complete answer of the registry counts as an audit that could not run, never as one that
 * found nothing.
 */
export function readAudit(output: string): Audit {
  const json = output.slice(Math.max(0, output.indexOf("{")));
  let report: { advisories?: unknown; metadata?: { vulnerabilities?: unknown } };
  try {
    report = JSON.parse(json) as typeof report;
  } catch {
    return { unasked: reasonOf(output) };
  }
  const { advisories, metadata } = report;
  if (typeof advisories !== "object" || advisories === null || typeof metadata?.vulnerabilities !== "object") {
    return { unasked: reasonOf(output) };
  }
  const forbidden = Object.values(advisories as Record<string, Advisory>).filter(({ severity }) =>
    FORBIDDEN.has(String(severity)),
  );
  return {
    advisories: forbidden.map(
      ({ module_name, severity, title, url }) =>
        `${String(module_name)}: ${String(title)} (${String(severity)}, ${String(url)})`,
    ),
  };
}

function reasonOf(output: string): string {
  const words = output.replaceAll(/https?:\/\/\S+/g, "").replaceAll(/[^\w.:,()'-]+/g, " ");
  return words.trim().slice(0, REASON_CHARACTERS) || "it said nothing";
}
