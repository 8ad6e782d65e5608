import { createHash } from "node:crypto";
import { scopes, type Scope } from "@tidemark/credentials";
import { AppError, badRequest } from "@tidemark/errors";
import { awaitsPayment, billingStates, type BillingState, type Plans, type PlanTier } from "@tidemark/limits";

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

/** The kind of an organization. A personal one has one seat, and no other person can be invited to it. */
export type AccountType = "personal" | "business" | "customer";

const accountTypes: readonly AccountType[] = ["personal", "business", "customer"];

// Clients still send the older names.
const plansByName: Readonly<Record<string, PlanTier>> = {
  free: "free",
  pro: "pro",
  premium: "premium",
  lab: "pro",
  startup: "pro",
  growth: "premium",
};

/** Returns the plan of a name or of one of its older names; an empty name means free. @throws bad_request */
export function readPlanTier(name: string): PlanTier {
  if (name === "") return "free";
  const plan = Object.hasOwn(plansByName, name) ? plansByName[name] : undefined;
  if (plan === undefined) throw badRequest("plan_tier must be one of free, pro, premium", "plan_tier");
  return plan;
}

/** Returns the kind of organization of a name, which must be one of `allowed`. @throws bad_request */
export function readAccountType(name: string, allowed: readonly AccountType[] = accountTypes): AccountType {
  const type = allowed.find((known) => known === name);
  if (type === undefined) throw badRequest(`account_type must be one of ${allowed.join(", ")}`, "account_type");
  return type;
}

/** Returns the billing state in which an organization begins. */
export function firstBillingState(plan: PlanTier): BillingState {
  return plan === "free" ? "free_active" : "paid_active";
}

/** Returns the billing state of a name. @throws bad_request for a state that does not exist */
export function readBillingState(name: string): BillingState {
  const state = billingStates.find((known) => known === name);
  if (state === undefined) {
    throw badRequest(`billing_state must be one of ${billingStates.join(", ")}`, "billing_state");
  }
  return state;
}

/**
 * Checks that the organization may add anything new. `action` ends the sentence "... before you can".
 * @throws payment_required (API specification, Errors)
 */
export function requirePaid(state: string, action: string): void {
  if (awaitsPayment(state)) {
    throw new AppError("payment_required", `the organization needs billing action before you can ${action}`);
  }
}

/** Checks that the plan costs nothing: there is no payment provider, so that only an operator can set a paid plan. @throws billing_unavailable */
export function requireFreePlan(plan: PlanTier): void {
  if (plan === "free") return;
  throw new AppError("billing_unavailable", "this installation takes no payments; ask its operator for another plan");
}

/** Returns how many people an organization may have, pending invitations counted. */
export function seatLimit(plans: Plans, plan: PlanTier, account: AccountType): number {
  return account === "personal" ? 1 : plans[plan].included_seats;
}

/** Checks that others can be invited: a personal organization is for one person. @throws personal_workspace_invite_forbidden */
export function requireTeam({ account_type: accountType }: { readonly account_type: AccountType }): void {
  if (accountType !== "personal") return;
  throw new AppError(
    "personal_workspace_invite_forbidden",
    "other people cannot be invited to a personal organization; create another organization",
  );
}

/** Returns the error that every seat of the plan is taken. */
export function seatLimitReached(limit: number): AppError {
  return new AppError("invite_seat_limit_reached", `the organization has no seat left (limit ${limit})`);
}

const lengthMax = 63;
const shape = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the short name that a client chose, unchanged. @throws bad_request */
export function readSlug(text: string): string {
  if (!shape.test(text)) {
    throw badRequest("slug must have 1 to 63 lower-case letters, digits and hyphens, no hyphen at the ends", "slug");
  }
  return text;
}

const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Returns the short name that follows from a name: Latin letters without their accents, digits, single hyphens. A name
 * in another script gets a short name made from its hash, so that it is always the same.
 * @throws bad_request for a name without any letter or digit
 */
export function slugOf(name: string): string {
  if (!letterOrDigit.test(name)) throw badRequest("name must have a letter or a digit", "name");
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, "");
  return plain === "" ? `org-${createHash("sha256").update(name).digest("hex").slice(0, 12)}` : plain;
}

/** Returns a short name with a suffix, for when it is taken; stays within 63 characters. */
export function withSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, lengthMax - suffix.length - 1).replace(/-+$/, "")}-${suffix}`;
}

/** Returns the name of a person's own organization when they choose none: their own name, else the part of their address before the @. */
export function personalName(email: string, displayName: string): string {
  const before = email.slice(0, email.indexOf("@"));
  return [displayName, before].find((name) => letterOrDigit.test(name)) ?? "Personal";
}
