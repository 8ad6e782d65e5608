import { AppError } from "@tidemark/errors";
import type { Route, RouteReply } from "../../../route.ts";
import { requireMessage } from "../../replies.ts";
import { embedPage } from "./document.ts";

/**
 * GET /embed/runs/{session_id}: the page of a working session. It contains no data: the holder of the token, which browsers keep from servers, reads them.
 * @throws not_found for a session that is unknown or expired, or whose key may no longer do what it could
 */
export const showEmbedPage: Route["handle"] = async ({ params }, { reports }, call, context): Promise<RouteReply> => {
  const { session: found, expired } = await reports.getEmbedPolicy({ sessionId: params["session_id"]! }, call);
  if (expired) throw new AppError("not_found", "this embedded view has ended");
  const session = requireMessage(found);
  if (!(await context.isSourceActive(session))) throw new AppError("not_found", "this embedded view was withdrawn");
  context.refundAddress();
  return { body: null, page: embedPage(await context.embedParts(), { ...session, nowMs: Date.now() }) };
};
