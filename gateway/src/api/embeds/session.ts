import { AppError, badRequest } from "@tidemark/errors";
import type { EmbedSession, GetEmbedPolicyResponse } from "@tidemark/proto/reports/v1/embeds";
import type { RouteInput, RouteReply } from "../../route.ts";
import { requireMessage } from "../replies.ts";
import { isLoopback } from "../../http/origin.ts";

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

/** Hosts that may appear in a Content-Security-Policy, whose grammar has no place for addresses in brackets (CSP 3, host-source). */
const HOST_SHAPE = /^[a-z0-9.-]+$/;

const FIELD = "allowed_parent_origin";

/**
 * Reads the origin of the pages that may show an embed session: scheme and host, and a port where it is not the usual one. Over HTTPS it must be another host
 * than ours, and HTTPS as well; a server that is reached over plain HTTP also takes loopback origins.
 * @throws bad_request
 */
export function readParentOrigin(text: string, ownBaseUrl: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const own = new URL(ownBaseUrl);
  if (url === undefined || !isBareOrigin(text, url)) {
    throw badRequest(`${FIELD} must be an origin such as https://portal.example, without a path`, FIELD);
  }
  const isHosted = own.protocol === "https:";
  const isAllowed = url.protocol === "https:" || (!isHosted && url.protocol === "http:" && isLoopback(url.href));
  if (!isAllowed) throw badRequest(`${FIELD} must begin with https://`, FIELD);
  if (isHosted && url.hostname === own.hostname) throw badRequest(`${FIELD} must not be this server`, FIELD);
  return url.origin;
}

function isBareOrigin(text: string, url: URL): boolean {
  const bare =
    url.username === "" && url.password === "" && url.pathname === "/" && url.search === "" && url.hash === "";
  return bare && HOST_SHAPE.test(url.hostname) && /^https?:\/\/[^/?#@\\]+$/i.test(text);
}
