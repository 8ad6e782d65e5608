import { equalHashes, issueCredential, parseCredential } from "@tidemark/credentials";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { EMBED_PANELS, EMBED_THEMES, EMBED_TTL_SECONDS, VIEW_POINTS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callerOf, isUuid, pathId } from "@tidemark/requests";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EmbedSessionSchema } from "@tidemark/proto/reports/v1/embeds";
import { requireText } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { countLiveEmbeds, EMBED, findEmbed, insertEmbed, type EmbedRow } from "./embeds.sql.ts";

/** Maximum number of sessions that have not expired, of one key and of an organization (contract of embed sessions). */
const LIVE_MAX = { ofKey: 100, ofOrganization: 1000 };

/** ReportsService.CreateEmbedSession. @throws unauthenticated unless an API key calls, bad_request */
export function createEmbed({ db, newId, randomBytes }: Deps): ReportsHandlers["createEmbedSession"] {
  return (request, call) => {
    const { kind, orgId, projectId, scopes } = callerOf(call);
    const keyId = call.identity?.credentialId ?? "";
    if (kind !== CallerKind.API_KEY || keyId === "")
      throw new AppError("unauthenticated", "this call needs an api key");
    const token = issueCredential("embed", randomBytes);
    const row = {
      org_id: orgId,
      id: newId(),
      key_id: keyId,
      project_id: projectId ?? null,
      scopes,
      token_hash: token.hash,
      allowed_parent_origin: requireText(request.allowedParentOrigin, "allowed_parent_origin"),
      run_ids: requireRuns(request.runIds),
      theme: requireTheme(request.theme),
      panels_max: requireWithin(request.panelsMax, 1, EMBED_PANELS.max, "panels_max"),
      points_max: requireWithin(request.pointsMax, 1, VIEW_POINTS.max, "points_max"),
    };
    const ttl = requireWithin(request.ttlSeconds, EMBED_TTL_SECONDS.min, EMBED_TTL_SECONDS.max, "ttl_seconds");
    return db.withTenant(orgId, async (tx) => {
      const live = await countLiveEmbeds(tx, orgId, keyId);
      if (live.ofKey >= LIVE_MAX.ofKey) throw badRequest(`a key has at most ${LIVE_MAX.ofKey} live embed sessions`);
      if (live.ofOrganization >= LIVE_MAX.ofOrganization) {
        throw badRequest(`an organization has at most ${LIVE_MAX.ofOrganization} live embed sessions`);
      }
      return { session: encodeEmbed({ ...row, ...(await insertEmbed(tx, row, ttl)) }), token: token.text };
    });
  };
}

type Deps = Pick<ReportsDeps, "db" | "newId" | "randomBytes">;

function requireRuns(ids: readonly string[]): string[] {
  const distinct = [...new Set(ids)];
  if (distinct.length > 0 && distinct.length <= VIEW_RUNS_MAX && distinct.every(isUuid)) return distinct;
  throw badRequest(`run_ids must be 1 to ${VIEW_RUNS_MAX} UUIDs`, "run_ids");
}

function requireTheme(theme: string): string {
  if (EMBED_THEMES.some((known) => known === theme)) return theme;
  throw badRequest(`theme must be one of ${EMBED_THEMES.join(", ")}`, "theme");
}

function requireWithin(value: number, min: number, max: number, field: string): number {
  if (value >= min && value <= max) return value;
  throw badRequest(`${field} must be from ${min} to ${max}`, field);
}

/** ReportsService.OpenEmbedSession: one refusal for every fault of a token. @throws unauthenticated, not_found for an id that is not a UUID */
export function openEmbed({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["openEmbedSession"] {
  return async (request) => {
    const token = parseCredential(request.token);
    if (token?.kind !== "embed") throw refusal();
    const row = await findEmbed(db, pathId(request.sessionId, EMBED));
    if (row === undefined || row.expired || !equalHashes(token.hash, row.token_hash)) throw refusal();
    return { session: encodeEmbed(row) };
  };
}

function refusal(): AppError {
  return new AppError("unauthenticated", "invalid or expired embed token");
}

/** ReportsService.GetEmbedPolicy. @throws not_found */
export function getEmbedPolicy({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["getEmbedPolicy"] {
  return async (request) => {
    const row = await findEmbed(db, pathId(request.sessionId, EMBED));
    if (row === undefined) throw notFound(EMBED);
    return { session: encodeEmbed({ ...row, run_ids: [] }), expired: row.expired };
  };
}

/** Encodes a session, without the hash of its token, which only the service knows. */
function encodeEmbed(row: EmbedRow): MessageInitShape<typeof EmbedSessionSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    keyId: row.key_id,
    projectId: row.project_id ?? "",
    scopes: [...row.scopes],
    allowedParentOrigin: row.allowed_parent_origin,
    runIds: [...row.run_ids],
    theme: row.theme,
    panelsMax: row.panels_max,
    pointsMax: row.points_max,
    expiresAt: row.expires_at,
  };
}
