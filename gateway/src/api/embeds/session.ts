import { EMBED_PANELS, EMBED_THEMES, EMBED_TTL_SECONDS, VIEW_POINTS } from "@tidemark/limits";
import type {
  CreateEmbedSessionResponse,
  EmbedSession,
  GetEmbedPolicyResponse,
} from "@tidemark/proto/reports/v1/embeds";
import type { Call } from "@tidemark/rpc";
import { AppError, badRequest } from "@tidemark/errors";
import type { Clients } from "../../clients.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { isLoopback } from "../../http/origin.ts";
import { described, object, withDefault, type Field } from "../fields/field.ts";
import { text, trimmedPattern } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { clamped, viewRunIds, warningsOf, type Accepted } from "../view-data/read.ts";

const THEME_DEFAULT = EMBED_THEMES[2];

const theme: Field<Accepted<string>> = {
  schema: {
    description: `One of ${EMBED_THEMES.join(", ")}; anything else counts as the default, with a warning.`,
    default: THEME_DEFAULT,
  },
  required: false,
  check: (sent, name) =>
    EMBED_THEMES.some((known) => known === sent)
      ? { value: sent as string }
      : {
          value: THEME_DEFAULT,
          warning: `${name} must be one of ${EMBED_THEMES.join(", ")}; ${THEME_DEFAULT} was taken`,
        },
  absent: () => ({ value: THEME_DEFAULT }),
};

const options = object({
  theme,
  max_panels: clamped({ min: 1, ...EMBED_PANELS }),
  metric_point_limit: clamped({ min: 1, ...VIEW_POINTS }),
});

/** Body of POST /api/embed/sessions. */
export const createEmbedBody = object({
  run_ids: viewRunIds,
  allowed_parent_origin: described(
    text(),
    "Of the pages that may show it: scheme, host and port. HTTPS, or HTTP on a loopback address where this server is reached over HTTP.",
    { pattern: trimmedPattern("[hH][tT][tT][pP][sS]?://[^\\s/?#@*\\\\\\u0000-\\u001f]+") },
  ),
  ttl_seconds: clamped(EMBED_TTL_SECONDS),
  options: withDefault(options, options.read({})),
});

/** POST /api/embed/sessions. @throws bad_request */
export function decodeCreateEmbed({ body, baseUrl }: Pick<RouteInput, "body" | "baseUrl">) {
  const { runIds, allowedParentOrigin, ttlSeconds, options: wished } = createEmbedBody.read(body);
  return {
    message: {
      runIds,
      allowedParentOrigin: readParentOrigin(allowedParentOrigin, baseUrl),
      ttlSeconds: ttlSeconds.value,
      theme: wished.theme.value,
      panelsMax: wished.maxPanels.value,
      pointsMax: wished.metricPointLimit.value,
    },
    warnings: warningsOf(ttlSeconds, wished.theme, wished.maxPanels, wished.metricPointLimit),
  };
}

type Ask = ReturnType<typeof decodeCreateEmbed>;

/** Makes a session for runs that the key may see. @throws not_found for another run, bad_request */
export async function createEmbed(
  { runs, reports }: Pick<Clients, "runs" | "reports">,
  { message }: Ask,
  call: Call,
): Promise<CreateEmbedSessionResponse> {
  await runs.getRuns({ runIds: message.runIds }, call);
  return reports.createEmbedSession(message, call);
}

/** `{embed_session: {…, iframe_src}, embed_token}` and `warnings` where there are some. */
export function encodeCreateEmbed(
  { session: made, token }: CreateEmbedSessionResponse,
  { warnings }: Ask,
  { baseUrl }: Pick<EncoderInput, "baseUrl">,
): RouteReply {
  const session = requireMessage(made);
  return {
    body: {
      embed_session: {
        id: session.id,
        expires_at: session.expiresAt,
        allowed_parent_origin: session.allowedParentOrigin,
        run_count: session.runIds.length,
        iframe_src: `${baseUrl}/embed/runs/${session.id}#token=${token}`,
      },
      embed_token: token,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

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
