import { MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import { AppError, isReason } from "@tidemark/errors";
import type { MetricColumns } from "@tidemark/codecs/metrics";
import type { Refusal } from "@tidemark/proto/common/v1/common";
import type { SourceArtifact, SourceAttribute } from "../content/content.rules.ts";
import type { CallWithRetry } from "../jobs/run-held.ts";
import { BYTES_TOGETHER_MAX, slicesOf } from "./slices.rules.ts";
import { collectionTypeOf, entryPathsOf } from "./artifact-names.rules.ts";
import { timeText } from "./run-line.rules.ts";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import type { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import type { Client } from "@tidemark/rpc";

const utf8 = new TextEncoder();

/** Points of a run under the name of their write: the same name has the same points. */
type PointsWrite = { readonly runId: string; readonly name: string; readonly columns: MetricColumns };

/** The most writes that may share a call. */
const WRITES_TOGETHER_MAX = 64;

/** Stores points, as packed segments, and returns the number of their values. A repeat stores nothing and returns the same. */
export async function writePoints(
  { ingest }: Pick<CommitClients, "ingest">,
  callWithRetry: CallWithRetry,
  writes: readonly PointsWrite[],
): Promise<number> {
  let stored = 0;
  for (const slice of slicesOf(writes, WRITES_TOGETHER_MAX)) {
    const messages = slice.map(({ runId, name, columns }) => ({
      runId,
      idempotencyKey: name,
      batch: true,
      columns: messageOf(columns),
    }));
    stored += await callWithRetry(async (call) => {
      const { outcomes } = await ingest.appendMetricsTogether({ writes: messages }, call);
      let inserted = 0;
      for (const [i, { outcome }] of outcomes.entries()) {
        if (outcome.case === "stored") inserted += outcome.value.inserted;
        else if (outcome.case === "refused") throw errorOf(outcome.value);
        else inserted += (await ingest.appendMetrics(messages[i]!, call)).inserted;
      }
      return inserted;
    });
  }
  return stored;
}

/** Typed arrays as packed fields, without a copy: the encoder only counts and indexes them, though the declaration says array. */
function messageOf({ keys, steps, timestampsUs, values, offsets, pointIndexes }: MetricColumns) {
  const packed = (column: Float64Array | Uint32Array): number[] => column as unknown as number[];
  return {
    keys: [...keys],
    steps: packed(steps),
    timestampsUs: packed(timestampsUs),
    values: packed(values),
    offsets: packed(offsets),
    pointIndexes: packed(pointIndexes),
  };
}

function errorOf({ detail, text }: Refusal): AppError {
  const reason = detail?.reason ?? "";
  return new AppError(isReason(reason) ? reason : "internal", text);
}

const ATTRIBUTES_TOGETHER_MAX = 5000;

/** Stores attributes of a run. `name` names the write: a repeat stores nothing. */
export async function writeAttributes(
  { ingest }: Pick<CommitClients, "ingest">,
  callWithRetry: CallWithRetry,
  runId: string,
  name: string,
  attributes: readonly SourceAttribute[],
): Promise<void> {
  const weightOf = ({ value, summary }: SourceAttribute): number => 2 * (value.length + summary.length);
  const slices = slicesOf(attributes, ATTRIBUTES_TOGETHER_MAX, BYTES_TOGETHER_MAX, weightOf);
  for (const [i, slice] of slices.entries()) {
    const messages = slice.map(({ path, type, step, timeUs, value, summary }) => ({
      path,
      type,
      ...(step === null ? {} : { step }),
      loggedAt: timeUs === null ? "" : timeText(timeUs),
      valueJson: utf8.encode(value),
      summaryJson: utf8.encode(summary),
    }));
    const request = { runId, attributes: messages, idempotencyKey: `${name}:${i}` };
    await callWithRetry((call) => ingest.appendAttributes(request, call));
  }
}

/** Records artifacts of a run, with a version of a collection for each kind. `name` names the write: a repeat stores nothing. */
export async function writeArtifacts(
  { artifacts: service }: Pick<CommitClients, "artifacts">,
  callWithRetry: CallWithRetry,
  run: { readonly runId: string; readonly name: string; readonly collectionName: string },
  artifacts: readonly SourceArtifact[],
): Promise<void> {
  const byType = Map.groupBy(artifacts, collectionTypeOf);
  for (const [collectionType, ofType] of byType) {
    for (const [i, slice] of slicesOf(ofType, MANIFEST_ENTRIES_MAX).entries()) {
      const paths = entryPathsOf(slice.map(({ name }) => name));
      const messages = slice.map(({ name, type, uri, step, sizeBytes, mimeType, metadata }, at) => ({
        artifact: { name, type, mimeType, metadataJson: utf8.encode(metadata), ...(step === null ? {} : { step }) },
        uri,
        path: paths[at]!,
        ...(sizeBytes === null ? {} : { sizeBytes: BigInt(sizeBytes) }),
      }));
      const request = {
        runId: run.runId,
        idempotencyKey: `${run.name}:${collectionType}:${i}`,
        artifacts: messages,
        collectionName: run.collectionName,
        collectionType,
      };
      await callWithRetry((call) => service.importArtifacts(request, call));
    }
  }
}

/** Clients of the services that store the data of an import. */
export type CommitClients = {
  readonly runs: Pick<Client<(typeof RunsRestoreService)["method"]>, "restoreProject" | "restoreRuns">;
  readonly ingest: Pick<
    Client<(typeof IngestService)["method"]>,
    "appendMetrics" | "appendMetricsTogether" | "appendAttributes"
  >;
  readonly ingestRead: Pick<Client<(typeof IngestReadService)["method"]>, "listMetricPoints">;
  readonly artifacts: Pick<Client<(typeof ArtifactsService)["method"]>, "importArtifacts">;
};
