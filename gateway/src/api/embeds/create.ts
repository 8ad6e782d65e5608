import { EMBED_PANELS, EMBED_THEMES, EMBED_TTL_SECONDS, VIEW_POINTS } from "@tidemark/limits";
import type { CreateEmbedSessionResponse } from "@tidemark/proto/reports/v1/embeds";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { described, object, withDefault, type Field } from "../fields/field.ts";
import { text, trimmedPattern } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { clamped, type Accepted } from "../view-data/options.ts";
import { viewRunIds, warningsOf } from "../view-data/read.ts";
import { readParentOrigin } from "./session.ts";

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
