import { scopes, type Scope } from "@tidemark/credentials";
import { badRequest } from "@tidemark/errors";

const emailLengthMax = 254;
// One @, no blanks, at least one character on both sides: only a message can show whether the address exists.
const emailShape = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/;

/** Returns an address in lower case, without blanks around it. `field` names it in the error. @throws bad_request */
export function readEmail(text: string, field = "email"): string {
  const email = text.trim().toLowerCase();
  if (email.length > emailLengthMax || !emailShape.test(email))
    throw badRequest(`${field} must be an e-mail address`, field);
  return email;
}

/** Returns enough of an address for its owner to recognize it: `a***@example.org`. */
export function emailHint(email: string): string {
  const [first = ""] = email;
  return `${first}***${email.slice(email.indexOf("@"))}`;
}

/** The role of a member of an organization. */
export type Role = "owner" | "admin" | "member" | "viewer";

// An organization gets its owner when it is created.
const invitedRoles: readonly Role[] = ["admin", "member", "viewer"];

/** Returns the role that a person is invited as; an empty name means member. @throws bad_request */
export function readInvitedRole(name: string): Role {
  if (name === "") return "member";
  const role = invitedRoles.find((known) => known === name);
  if (role === undefined) throw badRequest(`role must be one of ${invitedRoles.join(", ")}`, "role");
  return role;
}

const roles: readonly Role[] = ["owner", ...invitedRoles];

/** Returns the role of this name. @throws bad_request */
export function readRole(name: string): Role {
  const role = roles.find((known) => known === name);
  if (role === undefined) throw badRequest(`role must be one of ${roles.join(", ")}`, "role");
  return role;
}

const memberScopes: readonly Scope[] = [
  "sdk:ingest",
  "export:read",
  "runs:control",
  "artifacts:write",
  "imports:write",
];

/** Returns the scopes that a session of a role holds: its user may do what a key with them may do. */
export function scopesOfRole(role: Role): readonly Scope[] {
  if (role === "viewer") return ["export:read"];
  return role === "member" ? memberScopes : scopes;
}

/** Returns whether a role manages members, invitations and keys. */
export function isAdmin(role: string): boolean {
  return role === "owner" || role === "admin";
}
