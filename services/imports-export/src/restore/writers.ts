import type { ArchiveLine } from "@tidemark/archive";
import type { LineWriter, RestoreClients } from "./line-writer.ts";
import type { PlacedLine } from "./new-ids.rules.ts";
import { createArtifactsWriter, createVersionsWriter } from "./write-artifacts.ts";
import { createAttributesWriter, createObjectsWriter } from "./write-objects.ts";
import { createLogLinesWriter, createPointsWriter, createRankPointsWriter } from "./write-columns.ts";
import { createReportsWriter, createViewsWriter } from "./write-reports.ts";
import { createRunsWriter } from "./write-runs.ts";
import { createTracesWriter } from "./write-traces.ts";

/** Consecutive lines of one writer. */
export type LineBatch = { readonly write: LineWriter; readonly lines: readonly PlacedLine[] };

/** Assigns lines to their writers. */
export type Writers = {
  /** Returns the lines of a piece in batches, in their order, without lines that have no writer. */
  readonly batchesOf: (lines: readonly PlacedLine[]) => LineBatch[];
};

/** Creates the writers of an archive; views are left out where the importer has none. Projects and collections exist already. */
export function createWriters(clients: RestoreClients, archiveId: string, hasViews: boolean): Writers {
  const attributes = createAttributesWriter(clients.ingest);
  const objects = createObjectsWriter(clients.ingest, archiveId);
  const versions = createVersionsWriter(clients.artifacts, archiveId);
  const traces = createTracesWriter(clients.traces);
  const writers = new Map<ArchiveLine["line"], LineWriter>([
    ["run", createRunsWriter(clients.runs)],
    ["points", createPointsWriter(clients.ingest)],
    ["rank_points", createRankPointsWriter(clients.ingest)],
    ["lines", createLogLinesWriter(clients.ingest)],
    ["attribute", attributes],
    ["object", objects],
    ["object.rows", objects],
    ["artifact", createArtifactsWriter(clients.artifacts, archiveId)],
    ["version", versions],
    ["version.entries", versions],
    ["version.edges", versions],
    ["trace", traces],
    ["trace.spans", traces],
    ["report", createReportsWriter(clients.reports)],
    ...(hasViews ? [["view", createViewsWriter(clients.reports)] as const] : []),
  ]);
  return {
    batchesOf(lines) {
      const batches: { write: LineWriter; lines: PlacedLine[] }[] = [];
      for (const placed of lines) {
        const write = writers.get(placed.line.line);
        if (write === undefined) continue;
        const last = batches.at(-1);
        if (last?.write === write) last.lines.push(placed);
        else batches.push({ write, lines: [placed] });
      }
      return batches;
    },
  };
}
