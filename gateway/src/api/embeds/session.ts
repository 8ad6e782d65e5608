import { AppError } from "@tidemark/errors";
import type { EmbedSession, GetEmbedPolicyResponse } from "@tidemark/proto/reports/v1/embeds";
import type { RouteInput, RouteReply } from "../../route.ts";
import { requireMessage } from "../replies.ts";

/** Returns the session whose token a request presented. */
export function sessionOf({ embedSession }: Pick<RouteInput, "embedSession">): EmbedSession {
  if (embedSession === undefined) throw new AppError("unauthenticated", "this route needs an embed token");
  return embedSession;
}

/** `{embed_session: {id, expires_at, run_count, theme, has_custom_view}}` */
export function encodeCurrent({ id, expiresAt, runIds, theme }: EmbedSession): RouteReply {
  return {
    body: {
      embed_session: { id, expires_at: expiresAt, run_count: runIds.length, theme, has_custom_view: false },
    },
  };
}

/** The status of a session: `expired` takes precedence over the state of its key. */
export const POLICY_STATUSES = ["active", "expired", "source_inactive"] as const;

/** `{frame_policy: {session_id, status, allowed_parent_origin, expires_at}}` */
export function encodePolicy({ session: found, expired }: GetEmbedPolicyResponse, sourceActive: boolean): RouteReply {
  const { id, allowedParentOrigin, expiresAt } = requireMessage(found);
  const status: (typeof POLICY_STATUSES)[number] = expired ? "expired" : sourceActive ? "active" : "source_inactive";
  return {
    body: {
      frame_policy: { session_id: id, status, allowed_parent_origin: allowedParentOrigin, expires_at: expiresAt },
    },
  };
}
