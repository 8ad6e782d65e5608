import { AppError, badRequest } from "@tidemark/errors";
import type { SignInForDevelopmentRequest } from "@tidemark/proto/control/v1/control";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import {
  readAccountType,
  readPlanTier,
  requireFreePlan,
  seatLimit,
  seatLimitReached,
} from "../organizations/account.rules.ts";
import { readEmail } from "../organizations/people.rules.ts";
import { upsertUser } from "../organizations/users.sql.ts";
import { enterAs, type SignInRequest } from "./choose-organization.ts";

/** Returns which ways of signing in this installation offers. */
export function getAuthConfig({ settings }: ControlDeps): ControlHandlers["getAuthConfig"] {
  return async () => ({ devAuthEnabled: settings.devAuth, oidcEnabled: settings.oidc !== undefined });
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
