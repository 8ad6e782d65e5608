import { MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import { collectionTypeOf } from "../content/artifact-kind.rules.ts";
import type { SourceArtifact } from "../content/content.rules.ts";
import { TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";
import { hashSourceId } from "../content/source-hash.rules.ts";
import type { CallWithRetry } from "../jobs/call-with-retry.ts";
import { entryPathsOf } from "./entry-paths.rules.ts";
import type { CommitClients } from "./clients.ts";
import { slicesOf } from "./slices.rules.ts";

const utf8 = new TextEncoder();

/** Returns the name of the collection of a run's imported artifacts; of an id that is too long, with its hash. */
export function collectionNameOf(sourceType: string, sourceId: string): string {
  const name = `imported-${sourceType}-${sourceId}-artifacts`;
  if (Buffer.byteLength(name) <= TEXT_BYTES_MAX) return name;
  const short = `imported-${hashSourceId(sourceId).toString("hex")}-artifacts`;
  const typed = `imported-${sourceType}-${hashSourceId(sourceId).toString("hex")}-artifacts`;
  return Buffer.byteLength(typed) <= TEXT_BYTES_MAX ? typed : short;
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
