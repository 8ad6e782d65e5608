import type { ExactObject } from "@tidemark/documents";
import { POINT_BYTES, ROW_BYTES } from "@tidemark/limits";

/** Returns the metadata of a copy: that of the source, with the run that it was copied from, the nearest one of copies of copies. `at` is RFC 3339. */
export function copiedMetadata(
  metadata: ExactObject,
  source: { readonly runId: string; readonly at: string },
): ExactObject {
  return { ...metadata, copied_from: { run_id: source.runId, at: source.at } };
}

/** Returns whether a service has copied everything, by what it returned last. */
export function isDone(progress: string | null): boolean {
  return progress !== null && (JSON.parse(progress) as { part?: string }).part === "done";
}

/** Returns the logical bytes that copies count for. */
export function copiedBytes(sizes: {
  readonly runs: number;
  readonly points: number;
  readonly series: number;
  readonly artifacts: number;
  readonly bytes: number;
}): number {
  const { runs, points, series, artifacts, bytes } = sizes;
  return (
    bytes + ROW_BYTES.runs * runs + ROW_BYTES.series * series + ROW_BYTES.artifacts * artifacts + POINT_BYTES * points
  );
}
