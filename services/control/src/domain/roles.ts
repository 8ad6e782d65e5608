import { badRequest } from "@tidemark/errors";
import { scopes, type Scope } from "@tidemark/credentials";

/** What a member of an organization may be. */
export type Role = "owner" | "admin" | "member" | "viewer";

// An owner is made with the organization only.
const invitedRoles: readonly Role[] = ["admin", "member", "viewer"];

/** The role that somebody is invited as; empty means member. @throws bad_request */
export function readInvitedRole(name: string): Role {
  if (name === "") return "member";
  const role = invitedRoles.find((known) => known === name);
  if (role === undefined) throw badRequest(`role must be one of ${invitedRoles.join(", ")}`, "role");
  return role;
}

const writing: readonly Scope[] = ["sdk:ingest", "export:read", "runs:control", "artifacts:write", "imports:write"];

/** The scopes that a session of a role holds: what a key with them may do, its user may do. */
export function scopesOfRole(role: Role): readonly Scope[] {
  if (role === "viewer") return ["export:read"];
  return role === "member" ? writing : scopes;
}

/** Whether a role manages members, invitations and keys. */
export function isAdmin(role: string): boolean {
  return role === "owner" || role === "admin";
}
