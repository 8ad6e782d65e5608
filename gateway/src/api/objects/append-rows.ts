import type { MessageInitShape } from "@bufbuild/protobuf";
import { TABLE_ROWS_MAX, TABLE_ROWS_TOTAL_MAX } from "@tidemark/limits";
import type { AppendTableRowsRequestSchema, AppendTableRowsResponse } from "@tidemark/proto/ingest/v1/objects";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, list, object, type Fields } from "../fields/field.ts";
import { withFaultInTurns } from "../fields/in-turns.ts";
import { integer } from "../fields/number.ts";
import { tableRow } from "./create.ts";
import { readObjectId } from "./objects.ts";
import { chunkSteps } from "./table-builder.ts";

/** Body of POST /api/objects/{object_id}/rows. */
export const appendRowsBody = object({
  rows: described(
    list(tableRow, { itemsMin: 1, itemsMax: TABLE_ROWS_MAX }),
    "Rows of at most 128 columns and 16,384 bytes each.",
  ),
  offset: described(
    integer({ min: 0, max: TABLE_ROWS_TOTAL_MAX }),
    "How many rows the table has so far, so that a request that is sent again appends nothing twice.",
  ),
});

/** POST /api/objects/{object_id}/rows. Faults of the body travel in the message. @throws not_found for a text that cannot be an id */
export async function decodeAppendRows({
  params,
  body,
}: Pick<RouteInput, "params" | "body">): Promise<MessageInitShape<typeof AppendTableRowsRequestSchema>> {
  const objectId = readObjectId(params["object_id"]!);
  const { value, fault } = await withFaultInTurns(rowSteps(body));
  return { objectId, ...value, bodyFault: fault };
}

function* rowSteps(body: Fields) {
  const { rows, offset } = appendRowsBody.read(body);
  return { offset, chunks: yield* chunkSteps(rows) };
}

/** `{"object_id", "row_count"}` */
export function encodeAppendRows(
  { rowCount }: AppendTableRowsResponse,
  { objectId }: Awaited<ReturnType<typeof decodeAppendRows>>,
): RouteReply {
  return { body: { object_id: objectId!, row_count: rowCount } };
}
