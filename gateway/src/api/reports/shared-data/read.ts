import type { Route } from "../../../route.ts";
import { object } from "../../fields/field.ts";
import { composeSharedData, visibleRuns } from "./compose.ts";
import { encodeSharedData, keptData, runsOfKept, writeSharedData } from "./encode.ts";

/** Body of POST /api/reports/share/{share_token}/view-data: it has no say in what is answered. */
export const sharedDataBody = object({});

const utf8 = new TextDecoder();

/**
 * POST /api/reports/share/{share_token}/view-data. Each request looks at the link, so that it ends with it.
 * @throws not_found for a link that has ended or opens only the blocks, rate_limit_exceeded, bad_request
 */
export const readSharedData: Route["handle"] = async ({ params }, clients, call, { countLink }) => {
  const shared = await clients.reports.openSharedData({ shareToken: params["share_token"]! }, call);
  countLink(shared.shareId);
  if (shared.frozenJson === undefined) {
    return encodeSharedData(await writeSharedData(await composeSharedData(clients, shared, call)));
  }
  const text = utf8.decode(shared.frozenJson);
  const runIds = runsOfKept(text);
  const visible = await visibleRuns(clients, shared, runIds, call);
  return encodeSharedData(Buffer.from(visible.size === runIds.length ? shared.frozenJson : keptData(text, visible)));
};
