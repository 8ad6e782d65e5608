import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { CreateApiKeyRequest } from "@tidemark/proto/control/v1/control";
import { throwFault } from "@tidemark/requests";
import { requirePaid } from "../domain/billing.ts";
import { chooseScopes, requireHeld } from "../domain/scopes.ts";
import { findOrganization } from "../store/find-organization.ts";
import { findProject } from "../store/find-project.ts";
import { findUser } from "../store/find-user.ts";
import { callingUser, isOperator, visibleOrganization } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { issueKey } from "./issue-key.ts";
import { requireKeyManager } from "./key-manager.ts";

/**
 * Makes a key. It can do no more than its maker: an operator grants any scope, a session those of
 * its role, a key its own.
 * @throws not_found for the organization or the project; forbidden; bad_request; payment_required
 */
export function createApiKey(deps: ControlDeps): ControlHandlers["createApiKey"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const created = await commitProjectionChange(deps, orgId, async (tx) => {
      const organization = await findOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      requireKeyManager(call);
      throwFault(request.bodyFault);
      const scopes = chooseScopes(request.scopes);
      if (request.expiresAt !== "" && new Date(request.expiresAt) <= deps.now()) {
        throw badRequest("expires_at must be in the future", "expires_at");
      }
      if (!isOperator(call)) requireHeld(scopes, call.identity?.scopes ?? []);
      requirePaid(organization.billing_state, "create API keys");
      return issueKey(tx, deps, {
        orgId,
        name: request.name || "SDK API key",
        scopes,
        projectId: await projectOf(tx, orgId, request),
        createdByUserId: isOperator(call) ? await knownUser(tx, request.createdByUserId) : callingUser(call),
        expiresAt: request.expiresAt || undefined,
      });
    });
    return { created };
  };
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
