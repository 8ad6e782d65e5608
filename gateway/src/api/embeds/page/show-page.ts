import { AppError } from "@tidemark/errors";
import type { EmbedParts } from "@tidemark/web/build";
import type { Route, RouteReply } from "../../../route.ts";
import { requireMessage } from "../../replies.ts";
import type { Page } from "../../../http/page.ts";

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

const BODY = `<div id="app"></div><noscript><p class="message">This view needs JavaScript.</p></noscript>`;

/** Returns the page of an embed session. It is the same for all sessions, except for its theme and for the time when it checks whether it has ended. */
export function embedPage(
  { script, style }: EmbedParts,
  session: {
    /** light, dark or system. */
    readonly theme: string;
    /** RFC 3339. */
    readonly expiresAt: string;
    readonly allowedParentOrigin: string;
    readonly nowMs: number;
  },
): Page {
  const lastsMs = Math.max(0, Date.parse(session.expiresAt) - session.nowMs);
  return {
    title: "Runs",
    style,
    script,
    body: BODY,
    data: { theme: session.theme, "lasts-ms": String(lastsMs) },
    framedBy: session.allowedParentOrigin,
  };
}
