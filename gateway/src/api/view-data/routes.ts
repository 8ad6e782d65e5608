import { route, type Route } from "../../route.ts";
import { readCallers } from "../callers.ts";
import { encodeViewData, viewDataSchema } from "./encode.ts";
import { composeViewData, decodeViewData, viewDataBody } from "./read.ts";

/** Most bytes of a view and the ids of its runs. */
const BODY_BYTES_MAX = 256 * 1024;

/** The data of the panels of a view. */
export const viewDataRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/workspace-view-data",
    tag: "workspace views",
    summary: "The data of the panels of a view, for some runs",
    description:
      "A read, in the form of POST because of the view in its body, which need not be saved. What may be a secret or an address is removed from the view " +
      "first, which warnings tell. Line panels get points, all others the aggregates of their metric. Long series are sampled.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    endsWithClient: true,
    body: "required",
    bodyBytesMax: BODY_BYTES_MAX,
    exactNumbers: "every digit",
    schemas: { body: viewDataBody.schema, response: viewDataSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeViewData,
    rpc: composeViewData,
    encode: encodeViewData,
  }),
];
