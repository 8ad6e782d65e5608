import { AppError } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { isAdmin } from "../domain/roles.ts";
import { isOperator } from "./caller.ts";

/**
 * Who may manage an organization's keys: an operator, a session of an owner or admin, or a key with
 * `api_keys:write` that is not bound to one project. @throws forbidden
 */
export function requireKeyManager(call: Call): void {
  if (isOperator(call)) return;
  const { identity } = call;
  if (identity?.kind === CallerKind.SESSION && isAdmin(identity.role)) return;
  if (identity?.kind === CallerKind.API_KEY && identity.scopes.includes("api_keys:write")) {
    if (identity.projectId === "") return;
    throw new AppError("forbidden", "a key that is bound to a project cannot manage keys");
  }
  throw new AppError("forbidden", "api key requires api_keys:write");
}
