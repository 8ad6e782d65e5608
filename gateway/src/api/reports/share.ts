import type { MessageInitShape } from "@bufbuild/protobuf";
import { SHARE_EXTENTS, type ShareExtent } from "@tidemark/limits";
import type { ShareReportRequestSchema, ShareReportResponse } from "@tidemark/proto/reports/v1/reports";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import { boolean, described, object, optional, withDefault, withFault } from "../fields/field.ts";
import { word } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { composeSharedData } from "./shared-data/compose.ts";
import { writeSharedData } from "./shared-data/encode.ts";

const extent = described(
  word(SHARE_EXTENTS),
  "What the link opens: `blocks`: texts, no run data; `data`: also exactly the data of the report's panels.",
);

/** Body of POST /api/reports/{report_id}/share. */
export const shareReportBody = object({
  extent: withDefault<ShareExtent>(extent, SHARE_EXTENTS[0], { default: SHARE_EXTENTS[0] }),
  frozen: described(
    optional(boolean()),
    "With `data`: readers get the data of now, not those of the time when they read.",
  ),
});

/** A report to share, and whether its data are to be kept as they are. */
type ShareAsk = {
  readonly message: MessageInitShape<typeof ShareReportRequestSchema>;
  readonly isFrozen: boolean;
};

/** POST /api/reports/{report_id}/share. Faults travel in the message, because a missing report takes precedence. */
export function decodeShareReport({ params, body }: Pick<RouteInput, "params" | "body">): ShareAsk {
  const { value, fault } = withFault(() => shareReportBody.read(body));
  const message = { reportId: params["report_id"]!, extent: value?.extent ?? "", bodyFault: fault };
  // What it needs is said by the service.
  const nothing = value?.frozen === true && value.extent !== "data" ? { frozenJson: new Uint8Array() } : {};
  return { message: { ...message, ...nothing }, isFrozen: value?.frozen === true && value.extent === "data" };
}

/** Shares a report; reads its data before where they are to be kept. @throws not_found, bad_request, unauthenticated, forbidden, plan_limit_exceeded */
export async function shareReport(
  clients: Pick<Clients, "reports" | "runs" | "ingestRead">,
  { message, isFrozen }: ShareAsk,
  call: Call,
): Promise<ShareReportResponse> {
  const { reports } = clients;
  if (!isFrozen) return reports.shareReport(message, call);
  const { report: found } = await reports.getReport({ reportId: message.reportId! }, call);
  const { orgId, projectId = "", blocksJson } = requireMessage(found);
  // A reader from outside cannot share it, which the service says.
  if (orgId === "") return reports.shareReport(message, call);
  const data = await composeSharedData(clients, { shareId: "", orgId, projectId, blocksJson }, call);
  return reports.shareReport({ ...message, frozenJson: await writeSharedData(data) }, call);
}
