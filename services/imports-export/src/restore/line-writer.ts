import type { ArchiveLine } from "@tidemark/archive";
import type { CallWithRetry } from "../jobs/run-held.ts";
import type { NewIds, PlacedLine } from "./new-ids.rules.ts";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import type { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import type { TracesRestoreService } from "@tidemark/proto/traces/v1/restore";
import type { Client } from "@tidemark/rpc";

/**
 * Stores some lines of one piece, in their order, through their service, and returns warnings. The same lines under the same name are stored once,
 * however often this is called.
 */
export type LineWriter = (
  lines: readonly PlacedLine[],
  name: string,
  ids: NewIds,
  callWithRetry: CallWithRetry,
) => Promise<readonly string[]>;

/** Returns the lines of some kinds, the only ones that a writer gets. @throws Error for others */
export function linesOfKinds<K extends ArchiveLine["line"]>(
  lines: readonly PlacedLine[],
  ...kinds: readonly K[]
): Extract<ArchiveLine, { readonly line: K }>[] {
  return lines.map(({ line }) => {
    if (!(kinds as readonly string[]).includes(line.line)) throw new Error(`a writer got a line of ${line.line}`);
    return line as Extract<ArchiveLine, { readonly line: K }>;
  });
}

/** Clients of the services that store the data of a restore. */
export type RestoreClients = {
  readonly runs: Client<(typeof RunsRestoreService)["method"]>;
  readonly ingest: Client<(typeof IngestRestoreService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsRestoreService)["method"]>;
  readonly traces: Client<(typeof TracesRestoreService)["method"]>;
  readonly reports: Client<(typeof ReportsRestoreService)["method"]>;
};
