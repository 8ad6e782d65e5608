import { AppError } from "@tidemark/errors";
import type { EmbedParts } from "@tidemark/web/build";
import { EMBED_THEMES } from "@tidemark/limits";
import { route, type Route, type RouteReply } from "../../route.ts";
import { PAGE_TYPE, type Page } from "../../http/page.ts";
import {
  countSchema,
  listSchema,
  objectSchema,
  requireMessage,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";
import { encodeViewData, viewDataSchema } from "../view-data/encode.ts";
import {
  createEmbed,
  createEmbedBody,
  decodeCreateEmbed,
  encodeCreateEmbed,
  encodeCurrent,
  encodePolicy,
  POLICY_STATUSES,
  sessionOf,
} from "./session.ts";
import { composeEmbedData, decodeEmbedData, embedDataBody } from "./data.ts";

/**
 * GET /embed/runs/{session_id}: the page of a working session. It contains no data: the holder of the token, which browsers keep from servers, reads them.
 * @throws not_found for a session that is unknown or expired, or whose key may no longer do what it could
 */
const showEmbedPage: Route["handle"] = async ({ params }, { reports }, call, context): Promise<RouteReply> => {
  const { session: found, expired } = await reports.getEmbedPolicy({ sessionId: params["session_id"]! }, call);
  if (expired) throw new AppError("not_found", "this embedded view has ended");
  const session = requireMessage(found);
  if (!(await context.isSourceActive(session))) throw new AppError("not_found", "this embedded view was withdrawn");
  context.refundAddress();
  return { body: null, page: embedPage(await context.embedParts(), { ...session, nowMs: Date.now() }) };
};

const PAGE_BODY = `<div id="app"></div><noscript><p class="message">This view needs JavaScript.</p></noscript>`;

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
    body: PAGE_BODY,
    data: { theme: session.theme, "lasts-ms": String(lastsMs) },
    framedBy: session.allowedParentOrigin,
  };
}

/** Most bytes of a body about embed sessions. */
const BODY_BYTES_MAX = 64 * 1024;

const theme = { type: "string", enum: EMBED_THEMES };

/** Embed sessions: for some minutes, a page on another site shows some runs. */
export const embedsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/embed/sessions",
    tag: "embeds",
    summary: "Let a page show some runs for some minutes",
    description:
      "The token is shown this once. It reads these runs and nothing else, as long as the key that made it may read. Options beyond their bounds are brought " +
      "within them, which warnings tell.",
    callers: { kind: "credentials", key: { scopes: ["export:read"] }, session: { refused: 401 } },
    rate: "general",
    embed: "create",
    idempotency: "none",
    body: "required",
    bodyBytesMax: BODY_BYTES_MAX,
    schemas: {
      body: createEmbedBody.schema,
      response: objectSchema(
        {
          embed_session: objectSchema({
            id: uuidSchema,
            expires_at: timeSchema,
            allowed_parent_origin: textSchema,
            run_count: countSchema,
            iframe_src: { ...textSchema, description: "The address of the frame, with the token in its fragment." },
          }),
          embed_token: textSchema,
          warnings: listSchema(textSchema),
        },
        ["warnings"],
      ),
    },
    statuses: [200, 400, 401, 403, 404, 429],
    decode: decodeCreateEmbed,
    rpc: createEmbed,
    encode: encodeCreateEmbed,
  }),
  {
    method: "GET",
    path: "/api/embed/sessions/{session_id}/current",
    tag: "embeds",
    summary: "The embed session of a token",
    callers: { kind: "embed" },
    rate: "none",
    embed: "current",
    idempotency: "none",
    schemas: {
      response: objectSchema({
        embed_session: objectSchema({
          id: uuidSchema,
          expires_at: timeSchema,
          run_count: countSchema,
          theme,
          has_custom_view: { const: false },
        }),
      }),
    },
    statuses: [200, 401, 403, 404, 429],
    handle: (input) => Promise.resolve(encodeCurrent(sessionOf(input))),
  },
  {
    method: "GET",
    path: "/api/embed/sessions/{session_id}/frame-policy",
    tag: "embeds",
    summary: "Which pages may show an embed session, and whether it works",
    description: "A session that expired is known for a day.",
    callers: { kind: "anyone" },
    rate: "none",
    embed: "policy",
    idempotency: "none",
    schemas: {
      response: objectSchema({
        frame_policy: objectSchema({
          session_id: uuidSchema,
          status: { type: "string", enum: POLICY_STATUSES },
          allowed_parent_origin: textSchema,
          expires_at: timeSchema,
        }),
      }),
    },
    statuses: [200, 404, 429],
    async handle({ params }, { reports }, call, { isSourceActive }) {
      const policy = await reports.getEmbedPolicy({ sessionId: params["session_id"]! }, call);
      return encodePolicy(policy, policy.session !== undefined && (await isSourceActive(policy.session)));
    },
  },
  {
    method: "GET",
    path: "/embed/runs/{session_id}",
    tag: "embeds",
    summary: "The page that shows the runs of an embed session",
    description:
      "Its fragment, which browsers do not send, is `#token=` with the embed token. Only pages of the origin that the session names may show it in a frame. " +
      "Errors are pages as well, which no other page may show.",
    callers: { kind: "anyone" },
    rate: "none",
    embed: "page",
    idempotency: "none",
    schemas: { response: textSchema, responseType: PAGE_TYPE },
    statuses: [200, 404, 429],
    handle: showEmbedPage,
  },
  route({
    method: "POST",
    path: "/api/embed/sessions/{session_id}/runs/data",
    tag: "embeds",
    summary: "The data of the runs of an embed session",
    description:
      "As of a view that is made of the metrics with the most points. Options narrow what the session allows.",
    callers: { kind: "embed" },
    rate: "none",
    monthQuota: "never_refused",
    embed: "data",
    idempotency: "none",
    endsWithClient: true,
    body: "required",
    bodyBytesMax: BODY_BYTES_MAX,
    schemas: { body: embedDataBody.schema, response: viewDataSchema },
    statuses: [200, 400, 401, 403, 404, 429],
    decode: decodeEmbedData,
    rpc: composeEmbedData,
    encode: encodeViewData,
  }),
];
