import { AppError, badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { CreateApiKeyRequest } from "@tidemark/proto/control/v1/control";
import { pathId, readPage, throwFault } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { PAGE_ROWS } from "@tidemark/limits";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { isAdmin, requirePaid } from "../organizations/people.rules.ts";
import { callingUser, isOperator, visibleOrganization } from "../organizations/users.ts";
import { requireOrganization } from "../organizations/organizations.sql.ts";
import { findUser } from "../organizations/users.sql.ts";
import { commitProjectionChange, lockCaller, type LockedCaller } from "../projection/lock-caller.ts";
import { findProject } from "../stops/run-states.sql.ts";
import { encodeApiKey, encodeServiceAccount, issueKey } from "./issue-key.ts";
import { chooseScopes, requireHeld } from "./key-scopes.rules.ts";
import {
  disableServiceAccountRow,
  endSessionsOfKeys,
  listApiKeyRows,
  lockApiKey,
  lockLiveKeysOfAccount,
  revokeApiKeyRow,
  type KeyIds,
} from "./keys.sql.ts";

/**
 * Checks that the caller may manage an organization's keys: an operator, a session of an owner or admin, or a key with
 * `api_keys:write` that is not bound to one project.
 * @throws forbidden
 */
function requireKeyManager({ identity }: Pick<Call, "identity">): void {
  if (identity?.kind === CallerKind.OPERATOR) return;
  if (identity?.kind === CallerKind.SESSION && isAdmin(identity.role)) return;
  if (identity?.kind === CallerKind.API_KEY && identity.scopes.includes("api_keys:write")) {
    if (identity.projectId === "") return;
    throw new AppError("forbidden", "a key that is bound to a project cannot manage keys");
  }
  throw new AppError("forbidden", "api key requires api_keys:write");
}

/**
 * Creates a key. No caller grants more than it holds when the key is made: an operator grants any scope, a session those of its role, a key its
 * own, and no longer than its own life. The maker of a key also counts as the maker of the keys it makes, so that the keys of a member who left can be found.
 * @throws unauthenticated for a credential that has ended meanwhile; not_found for the organization or the project; forbidden; bad_request; payment_required
 */
export function createApiKey(deps: ControlDeps): ControlHandlers["createApiKey"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const created = await commitProjectionChange(deps, orgId, async (tx) => {
      const organization = await requireOrganization(tx, orgId);
      requireKeyManager(call);
      const caller = await lockCaller(tx, call, deps.now());
      requireKeyManager(caller);
      throwFault(request.bodyFault);
      const scopes = chooseScopes(request.scopes);
      const expiresAt = endOf(request.expiresAt, caller, deps.now());
      if (!isOperator(call)) requireHeld(scopes, caller.identity?.scopes ?? []);
      requirePaid(organization.billing_state, "create API keys");
      const made = await issueKey(tx, deps, {
        orgId,
        name: request.name || "SDK API key",
        scopes,
        projectId: await projectOf(tx, orgId, request),
        createdByUserId: isOperator(call)
          ? await knownUser(tx, request.createdByUserId)
          : (callingUser(call) ?? caller.madeBy),
        expiresAt,
      });
      const target = { type: "api_key", id: made.key!.id! };
      await recordAudit(tx, call, { orgId, action: "api_key.created", target });
      return made;
    });
    return { created };
  };
}

/** Returns when a new key ends: as requested, and at the latest with the key that makes it. @throws bad_request */
function endOf(asked: string, { expiresAt }: LockedCaller, now: Date): string | undefined {
  if (asked === "") return expiresAt?.toISOString();
  const end = new Date(asked);
  if (end <= now) throw badRequest("expires_at must be in the future", "expires_at");
  if (expiresAt !== undefined && end > expiresAt) {
    throw badRequest("expires_at must not be after the end of the key that makes this one", "expires_at");
  }
  return asked;
}

async function projectOf(tx: Tx, orgId: string, request: CreateApiKeyRequest): Promise<string | undefined> {
  if (request.projectId === "" && request.project === "") return undefined;
  const wanted = { id: request.projectId || undefined, name: request.project || undefined };
  const project = await findProject(tx, orgId, wanted);
  if (project === undefined) throw notFound("project");
  if (wanted.name !== undefined && project.name !== wanted.name) {
    throw badRequest("project and project_id name different projects", "project");
  }
  return project.id;
}

async function knownUser(tx: Tx, id: string): Promise<string | undefined> {
  if (id === "") return undefined;
  if ((await findUser(tx, id)) === undefined) throw notFound("user");
  return id;
}

/** Lists an organization's keys, newest first, revoked ones included. @throws not_found, forbidden */
export function listApiKeys({ db }: ControlDeps): ControlHandlers["listApiKeys"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      await requireOrganization(tx, orgId);
      requireKeyManager(call);
      return listApiKeyRows(tx, orgId, readPage(request.page, PAGE_ROWS));
    });
    return { keys: rows.map(encodeApiKey) };
  };
}

/** Revokes a key; repeating it changes nothing. @throws not_found, forbidden */
export function revokeApiKey(deps: ControlDeps): ControlHandlers["revokeApiKey"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const keyId = pathId(request.keyId, "api key");
    requireKeyManager(call);
    const key = await commitProjectionChange(deps, orgId, async (tx) => {
      const locked = await lockApiKey(tx, orgId, keyId);
      if (locked === undefined) throw notFound("api key");
      if (locked.revoked_at !== null) return locked;
      const revoked = await revokeApiKeyRow(tx, orgId, keyId, deps.now());
      await finishRevocation(tx, deps, call, orgId, [locked]);
      return revoked!;
    });
    return { key: encodeApiKey(key) };
  };
}

/** Disables a service account and revokes its key; repeating it changes nothing. @throws not_found, forbidden */
export function disableServiceAccount(deps: ControlDeps): ControlHandlers["disableServiceAccount"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.serviceAccountId, "service account");
    requireKeyManager(call);
    const account = await commitProjectionChange(deps, orgId, async (tx) => {
      const wasLive = await lockLiveKeysOfAccount(tx, orgId, id);
      const disabled = await disableServiceAccountRow(tx, orgId, id, deps.now());
      if (disabled === undefined) throw notFound("service account");
      await finishRevocation(tx, deps, call, orgId, wasLive);
      return disabled;
    });
    return { serviceAccount: encodeServiceAccount(account) };
  };
}

/** Ends the sessions of the keys that a revocation has ended, and records the keys. */
async function finishRevocation(
  tx: Tx,
  { now }: Pick<ControlDeps, "now">,
  call: Call,
  orgId: string,
  keys: readonly KeyIds[],
): Promise<void> {
  await endSessionsOfKeys(tx, orgId, keys, now());
  for (const { id } of keys) {
    await recordAudit(tx, call, { orgId, action: "api_key.revoked", target: { type: "api_key", id } });
  }
}
