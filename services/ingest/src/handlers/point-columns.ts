import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PointColumnsSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Points } from "../domain/first-points.ts";

/** No points as the message that answers carry. */
export const noPoints: MessageInitShape<typeof PointColumnsSchema> = {};

/** Points as the message that answers carry. */
export function pointColumns(points: Points): MessageInitShape<typeof PointColumnsSchema> {
  return {
    steps: packed(points.steps),
    values: packed(points.values),
    createdUs: packed(points.createdUs),
    timestampsUs: packed(points.timestampsUs),
  };
}

/**
 * The encoder only counts and indexes a packed field, so a typed array serves it as well as the
 * array that its declaration asks for, and is not copied.
 */
function packed(column: Float64Array): number[] {
  return column as unknown as number[];
}
