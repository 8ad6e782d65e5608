import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CredentialKind,
  type CredentialEntrySchema,
  type OrganizationEntrySchema,
} from "@tidemark/proto/control/v1/control";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { scopesOfRole } from "../organizations/people.rules.ts";
import { readCursor, writeCursor, type ProjectionCursor } from "./projection-cursor.rules.ts";
import {
  findCredential,
  readProjectionPage,
  recordUse,
  type CredentialFacts,
  type OrganizationFacts,
  type ProjectionPage,
} from "./projection.sql.ts";

const rowsDefault = 1000;
const rowsMax = 5000;
const start = { xid: 0n, kind: "", id: "" };

/**
 * Returns changed rows from the cursor's floor on. The floor that the next cursor carries was the oldest open transaction
 * when this pass began, so every row that was not visible then is returned later, regardless of the commit order.
 */
export function getProjection({ db }: ControlDeps): ControlHandlers["getProjection"] {
  return async (request) => {
    const limit = Math.min(request.limit || rowsDefault, rowsMax);
    // One row more than requested shows whether there are more.
    const read = (cursor: ProjectionCursor | undefined): Promise<ProjectionPage> => {
      const after = cursor === undefined ? start : (cursor.pass?.after ?? { ...start, xid: cursor.floor });
      return readProjectionPage(db, {
        after,
        liveOnly: cursor?.pass?.snapshot ?? cursor === undefined,
        limit: limit + 1,
      });
    };
    let cursor = readCursor(request.cursor);
    let page = await read(cursor);
    if (cursor !== undefined && cursor.floor > page.ceiling) {
      // The server's transaction numbers went back: it was restored, and the changes that the reader knows may never have happened.
      cursor = undefined;
      page = await read(undefined);
    }
    const rows = page.rows.slice(0, limit);
    const last = rows.at(-1);
    const more = page.rows.length > limit && last !== undefined;
    const floor = cursor?.pass === undefined ? page.floor : cursor.floor;
    const snapshot = cursor?.pass?.snapshot ?? cursor === undefined;
    return {
      organizations: rows.flatMap((row) => (row.kind === "organization" ? [encodeOrganizationEntry(row)] : [])),
      credentials: rows.flatMap((row) => (row.kind === "organization" ? [] : [encodeCredentialEntry(row)])),
      cursor: writeCursor(more ? { floor, pass: { snapshot, after: last.position } } : { floor }),
      more,
      fromStart: cursor === undefined,
    };
  };
}

/** Reads one credential from the database, so that every process knows one that was created a moment ago. */
export function lookupCredential({ db }: ControlDeps): ControlHandlers["lookupCredential"] {
  return async ({ kind, id }) => {
    const found = await findCredential(db, kind === CredentialKind.SESSION ? "session" : "api_key", id);
    if (found === undefined) return {};
    return { entry: encodeCredentialEntry(found), organization: encodeOrganizationEntry(found) };
  };
}

const usesMax = 1000;

/** Records when credentials were last used. Skips unknown ones, and drops those after the first 1000. */
export function recordCredentialUse({ db }: ControlDeps): ControlHandlers["recordCredentialUse"] {
  return async ({ uses }) => {
    const known = uses.slice(0, usesMax).map(({ kind, id, usedAt }) => ({
      kind: kind === CredentialKind.SESSION ? ("session" as const) : ("api_key" as const),
      id,
      usedAt,
    }));
    if (known.length > 0) await recordUse(db, known);
    return {};
  };
}

/** Returns the facts that gateways know of an organization as a message. */
function encodeOrganizationEntry(facts: OrganizationFacts): MessageInitShape<typeof OrganizationEntrySchema> {
  return {
    id: facts.org_id,
    slug: facts.slug,
    name: facts.name,
    planTier: facts.plan_tier,
    billingState: facts.billing_state,
    deleted: facts.deleted,
  };
}

/** Returns the facts that gateways know of a credential as a message. A session's scopes are those of its role, or of its key. */
function encodeCredentialEntry(facts: CredentialFacts): MessageInitShape<typeof CredentialEntrySchema> {
  const session = facts.kind === "session";
  return {
    kind: session ? CredentialKind.SESSION : CredentialKind.API_KEY,
    id: facts.id,
    hash: facts.hash,
    orgId: facts.org_id,
    scopes: facts.role === null ? facts.scopes : [...scopesOfRole(facts.role)],
    projectId: facts.project_id ?? "",
    userId: facts.user_id ?? "",
    role: facts.role ?? "",
    expiresAt: facts.expires_at ?? "",
    revoked: facts.revoked,
    keyId: facts.key_id ?? "",
  };
}
