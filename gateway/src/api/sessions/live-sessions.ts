import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  EndSessionRequestSchema,
  EndSessionResponse,
  ListedSession,
  ListSessionsRequestSchema,
  ListSessionsResponse,
} from "@tidemark/proto/control/v1/control";
import { sessionCookie } from "../../http/headers.ts";
import type { Json } from "../../http/json.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { join, object } from "../fields/field.ts";
import { strictFlag } from "../fields/text.ts";
import { accountsPage, pathId, readPage } from "../parameters.ts";
import {
  booleanSchema,
  objectSchema,
  requireMessage,
  secretReply,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";
import { cookieHeader } from "./sessions.ts";

/** Query of GET /api/auth/sessions. */
export const listSessionsQuery = join(
  accountsPage,
  object({ all: strictFlag("true: those of all members of the organization; for owners and admins.") }),
);

/** A live session. */
export const listedSessionSchema = objectSchema({
  id: uuidSchema,
  current: { ...booleanSchema, description: "Whether it is the one that asks." },
  organization: objectSchema({ id: uuidSchema, name: textSchema }),
  user: {
    oneOf: [
      objectSchema({
        id: uuidSchema,
        primary_email: textSchema,
        display_name: textOrNullSchema,
        avatar_url: textOrNullSchema,
      }),
      { type: "null" },
    ],
    description: "null where the session was made from an API key.",
  },
  api_key_id: uuidOrNullSchema,
  created_at: timeSchema,
  last_seen_at: timeOrNullSchema,
  expires_at: timeSchema,
});

/** GET /api/auth/sessions. @throws bad_request */
export function decodeListSessions({ query }: RouteInput): MessageInitShape<typeof ListSessionsRequestSchema> {
  return { all: listSessionsQuery.read(query).all, page: readPage(accountsPage, query) };
}

/** `{"sessions": [row, …]}` */
export function encodeListSessions({ sessions }: ListSessionsResponse): RouteReply {
  return secretReply({ sessions: sessions.map(listedSessionJson) });
}

/** DELETE /api/auth/sessions/{session_id}. */
export function decodeEndSession(input: RouteInput): MessageInitShape<typeof EndSessionRequestSchema> {
  return { sessionId: pathId(input, "session_id") };
}

/** `{"session": row}`; a caller who ends their own session also loses its cookie. */
export function encodeEndSession({ session }: EndSessionResponse, _request: unknown, input: EncoderInput): RouteReply {
  const ended = requireMessage(session);
  const body = { session: listedSessionJson(ended) };
  return ended.current
    ? secretReply(body, { "set-cookie": cookieHeader(sessionCookie, "", 0, input) })
    : secretReply(body);
}

function listedSessionJson({ session: found, user, keyId, current, organizationName }: ListedSession): Json {
  const session = requireMessage(found);
  return {
    id: session.id,
    current,
    organization: { id: session.orgId, name: organizationName },
    user:
      user === undefined
        ? null
        : {
            id: user.id,
            primary_email: user.primaryEmail,
            display_name: textOrNull(user.displayName),
            avatar_url: textOrNull(user.avatarUrl),
          },
    api_key_id: textOrNull(keyId),
    created_at: session.createdAt,
    last_seen_at: textOrNull(session.lastSeenAt),
    expires_at: session.expiresAt,
  };
}
