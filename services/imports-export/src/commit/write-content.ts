import type { Content } from "../content/content.rules.ts";
import { hashSourceId } from "../content/named-runs.rules.ts";
import type { CallWithRetry } from "../jobs/run-held.ts";
import { columnsOf, hasBit, pointsBySource } from "./columns.rules.ts";
import type { BatchCounts, DecidedRun } from "./commit.sql.ts";
import { type CommitClients, writeArtifacts, writeAttributes, writePoints } from "./write-rows.ts";
import { createRunsWriter } from "../restore/write-runs.ts";
import { collectionNameOf } from "./artifact-names.rules.ts";
import { newIdsOf } from "../restore/new-ids.rules.ts";
import { runLineOf } from "./run-line.rules.ts";

/*
 * Writes staged content through the services that own it. This code does not depend on chunks, or on where the content is from: a content with the
 * same name has the same items, so each write can be repeated after a crash and stores nothing twice.
 */

/** A content to write. */
export type ContentWrite = {
  readonly content: Content;
  /** Prefix of the names of its writes; no other content of the organization uses it. */
  readonly name: string;
  readonly projectId: string;
  /** When its runs are imported, in microseconds since the epoch: later runs have later times. */
  readonly importedUs: number;
  /** A part of the names of its collections of artifacts. */
  readonly sourceType: string;
  /** The outcomes for the runs, by the hash of the id at the source in hexadecimal digits. */
  readonly runs: ReadonlyMap<string, DecidedRun>;
  /** A bit for each omitted point; null: none is omitted. */
  readonly knownPoints: Uint8Array | null;
};

const NOTHING: BatchCounts = { runs: 0, metrics: 0, attributes: 0, artifacts: 0 };

/** Stores the runs of a content that are to be created, and returns their number. `sequence` is the number of the content. */
export async function writeContentRuns(
  clients: CommitClients,
  callWithRetry: CallWithRetry,
  { content, name, projectId, importedUs, runs }: ContentWrite,
  sequence: number,
): Promise<BatchCounts> {
  const lines = content.runs.flatMap((run, place) => {
    const decided = runs.get(hashSourceId(run.id).toString("hex"));
    const isFirst = decided?.sequence === sequence && decided.place === place;
    if (!isFirst || decided.outcome !== "create") return [];
    return [{ number: place, line: runLineOf(run, { id: decided.runId, projectId, importedUs: importedUs + place }) }];
  });
  // Their ids are new.
  await createRunsWriter(clients.runs)(lines, name, newIdsOf([]), callWithRetry);
  return { ...NOTHING, runs: lines.length };
}

/** Stores the data of the runs of a content that are not skipped, and returns its amounts. */
export async function writeContentData(
  clients: CommitClients,
  callWithRetry: CallWithRetry,
  write: ContentWrite,
): Promise<BatchCounts> {
  const { content, name, sourceType, knownPoints } = write;
  const runIds = content.sources.map((id) => {
    const decided = write.runs.get(hashSourceId(id).toString("hex"));
    return decided === undefined || decided.outcome === "skip" ? undefined : decided.runId;
  });
  const points = pointsBySource(content, (source, i) => runIds[source] !== undefined && !hasBit(knownPoints, i));
  const metrics = await writePoints(
    clients,
    callWithRetry,
    [...points].map(([source, indexes]) => ({
      runId: runIds[source]!,
      name: `${name}:${source}`,
      columns: columnsOf(content, indexes),
    })),
  );
  const attributes = content.attributes.filter(({ source }) => runIds[source] !== undefined);
  for (const [source, ofRun] of Map.groupBy(attributes, (attribute) => attribute.source)) {
    await writeAttributes(clients, callWithRetry, runIds[source]!, `${name}:${source}`, ofRun);
  }
  const artifacts = content.artifacts.filter(({ source }) => runIds[source] !== undefined);
  for (const [source, ofRun] of Map.groupBy(artifacts, (artifact) => artifact.source)) {
    const collectionName = collectionNameOf(sourceType, content.sources[source]!);
    await writeArtifacts(
      clients,
      callWithRetry,
      { runId: runIds[source]!, name: `${name}:${source}`, collectionName },
      ofRun,
    );
  }
  return { runs: 0, metrics, attributes: attributes.length, artifacts: artifacts.length };
}
