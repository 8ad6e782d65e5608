import type { CredentialEntry, CredentialUse } from "@tidemark/proto/control/v1/control";
import type { Log } from "@tidemark/telemetry";

/** Collects when credentials were last used and reports it periodically. */
export type CredentialUses = {
  readonly note: (entry: CredentialEntry) => void;
  readonly start: () => void;
  /** Reports the rest and ends. */
  readonly stop: () => Promise<void>;
};

type Use = Pick<CredentialUse, "kind" | "id" | "orgId" | "usedAt">;

const REPORT_MS = 30_000;
/** Most credentials of one report. */
const USES_MAX = 1000;

/** Creates the collector. A failed report is repeated with the next one; a process that dies loses at most half a minute of uses. */
export function createCredentialUses(options: {
  readonly report: (uses: readonly Use[]) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: Log;
}): CredentialUses {
  const { report, nowMs, log } = options;
  const usedAtMs = new Map<string, { entry: CredentialEntry; ms: number }>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    const noted = [...usedAtMs];
    usedAtMs.clear();
    for (let first = 0; first < noted.length; first += USES_MAX) {
      const part = noted.slice(first, first + USES_MAX);
      try {
        await report(part.map(([, { entry, ms }]) => useOf(entry, ms)));
      } catch (error) {
        log.warn("the use of credentials could not be reported", { error });
        for (const [key, use] of part) if (!usedAtMs.has(key)) usedAtMs.set(key, use);
      }
    }
  };

  return {
    note(entry) {
      const key = `${entry.kind}:${entry.id}`;
      const noted = usedAtMs.get(key);
      if (noted === undefined) usedAtMs.set(key, { entry, ms: nowMs() });
      else noted.ms = nowMs();
    },
    start() {
      timer = setInterval(() => void flush(), REPORT_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

function useOf({ kind, id, orgId }: CredentialEntry, ms: number): Use {
  return { kind, id, orgId, usedAt: new Date(ms).toISOString() };
}
