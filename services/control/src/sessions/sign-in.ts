import { issueCredential, parseCredential } from "@tidemark/credentials";
import { AppError, badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { SignInForDevelopmentRequest } from "@tidemark/proto/control/v1/control";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { enterOrganization } from "../organizations/organizations.sql.ts";
import { announceChange, commitProjectionChange, findLiveCredential } from "../projection/lock-caller.ts";
import {
  readAccountType,
  readEmail,
  readPlanTier,
  requireFreePlan,
  seatLimit,
  seatLimitReached,
} from "../organizations/people.rules.ts";
import { upsertUser } from "../organizations/users.sql.ts";
import { insertOneTimeToken, takeOneTimeToken } from "./live-sessions.sql.ts";
import { openSession, openSessionOfKey } from "./open-session.ts";
import { enterAs, type SignInRequest } from "./choose-organization.ts";

/** How long a token is valid. */
const TOKEN_MS = 10 * 60_000;

/** Creates a token that opens one session of a member, and returns its text. */
export async function issueOneTimeToken(
  tx: Tx,
  { randomBytes, now }: Pick<ControlDeps, "randomBytes" | "now">,
  member: { readonly orgId: string; readonly userId: string },
): Promise<string> {
  const { id, hash, text } = issueCredential("one_time", randomBytes);
  const begin = now();
  const expiresAt = new Date(begin.getTime() + TOKEN_MS);
  await insertOneTimeToken(tx, { ...member, credentialId: id, hash, now: begin, expiresAt });
  return text;
}

/**
 * Opens the one session that a token is valid for.
 * @throws unauthenticated for a token that was used, is too old, or never existed
 */
export function signInOnce(deps: ControlDeps): ControlHandlers["signInOnce"] {
  return async ({ token }) => {
    const credential = parseCredential(token);
    if (credential?.kind !== "one_time") throw invalid();
    const created = await deps.db.transaction(async (tx) => {
      const member = await takeOneTimeToken(tx, credential, deps.now());
      if (member === undefined) throw invalid();
      await enterOrganization(tx, member.orgId);
      const session = await openSession(tx, deps, member);
      await announceChange(tx, member.orgId);
      return session;
    });
    deps.wakeRelay();
    return { created };
  };
}

function invalid(): AppError {
  return new AppError("unauthenticated", "invalid or expired credentials");
}

/**
 * Opens a session with the rights of an API key, which ends with the key.
 * @throws unauthenticated for every text that is not a working key
 */
export function signInWithApiKey(deps: ControlDeps): ControlHandlers["signInWithApiKey"] {
  return async ({ apiKey }) => {
    const key = await findLiveCredential(deps.db, "api_key", apiKey, deps.now());
    if (key === undefined) throw new AppError("unauthenticated", "invalid or expired credentials");
    const { org_id: orgId, id: keyId } = key;
    return { created: await commitProjectionChange(deps, orgId, (tx) => openSessionOfKey(tx, deps, { orgId, keyId })) };
  };
}

/** Returns which ways of signing in this installation offers. */
export function getAuthConfig({ settings }: ControlDeps): ControlHandlers["getAuthConfig"] {
  return async ({ fromThisMachine }) => ({
    devAuthEnabled: settings.devAuth,
    oidcEnabled: settings.oidc !== undefined,
    invitationEnabled: linkSignsIn(settings, fromThisMachine),
  });
}

/**
 * Whether the link of an invitation signs its receiver in. Where people sign in at an identity provider, that alone decides who they are. Without one
 * an address proves nothing, so only clients on the machine may do so, or those of an installation for development.
 */
export function linkSignsIn({ devAuth, oidc }: ControlDeps["settings"], isFromThisMachine: boolean): boolean {
  return oidc === undefined && (devAuth || isFromThisMachine);
}

/**
 * Signs a person in by their address alone, into the organization that `enterAs` chooses.
 * @throws unauthenticated unless the installation was started for development; bad_request; billing_unavailable; the errors of `enterAs`
 */
export function signInForDevelopment(deps: ControlDeps): ControlHandlers["signInForDevelopment"] {
  return async (request, call) => {
    if (!deps.settings.devAuth) throw new AppError("unauthenticated", "this way of signing in is not enabled");
    const wish = readWish(deps, request);
    const created = await deps.db.transaction(async (tx) => {
      const { email, displayName } = wish;
      const user = await upsertUser(tx, { id: deps.newId(), email, displayName, avatarUrl: "", now: deps.now() });
      return enterAs(tx, deps, call, user, wish);
    });
    deps.wakeRelay();
    return { created };
  };
}

function readWish(
  { settings }: ControlDeps,
  request: SignInForDevelopmentRequest,
): SignInRequest & { readonly email: string; readonly displayName: string } {
  const { mode, orgName } = request;
  if (!["", "signin", "signup"].includes(mode)) throw badRequest("mode must be signin or signup", "mode");
  const planTier = readPlanTier(request.planTier);
  requireFreePlan(planTier);
  const email = readEmail(request.email);
  // A person who does not name an organization gets a personal one.
  const asked = request.accountType === "" ? "business" : readAccountType(request.accountType);
  const accountType = orgName === "" ? "personal" : asked;
  const seatEmails = [...new Set(request.seatEmails.map((seat) => readEmail(seat, "seat_emails")))];
  const others = seatEmails.filter((seat) => seat !== email);
  if (accountType === "personal" && others.length > 0) {
    throw badRequest("a personal organization has no seats for others", "seat_emails");
  }
  const limit = seatLimit(settings.plans, planTier, accountType);
  if (settings.seatLimits && 1 + others.length > limit) throw seatLimitReached(limit);
  return {
    email,
    displayName: request.displayName,
    orgName,
    accountType,
    planTier,
    seatEmails: others,
    inviteOrgId: request.acceptInviteOrgId.toLowerCase(),
    inviteToken: request.acceptInviteToken,
  };
}
