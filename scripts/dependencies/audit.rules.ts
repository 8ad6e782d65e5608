/** What an audit found out: advisories that forbid a release, or why it could not be asked. */
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
 * Reads what `pnpm audit --json` printed. Whatever is not a complete answer of the registry is an audit that could not be asked, never one that
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
