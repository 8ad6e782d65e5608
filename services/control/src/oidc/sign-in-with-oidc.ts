import { AppError, badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { upsertUser, type UserRow, findUserByIdentity, insertIdentity } from "../organizations/users.sql.ts";
import { enterAs } from "../sessions/choose-organization.ts";
import { readClaims, type Person, isOwnPath, readLoginSecret, writeLoginSecret } from "./oidc.rules.ts";

/** A path under the address of the gateway; the provider has to know it. */
const CALLBACK = "/api/auth/oidc/callback";

/**
 * Begins a sign-in at the provider of the installation: returns where to send the browser, and the secret that it keeps until it is back.
 * @throws unauthenticated where no provider is set; bad_request for a path that leads elsewhere; service_unavailable when the provider does not answer
 */
export function startOidcLogin({ settings }: ControlDeps): ControlHandlers["startOidcLogin"] {
  return async ({ baseUrl, returnTo, acceptInviteOrgId: orgId }) => {
    const { provider } = requireOidc(settings);
    if (returnTo !== "" && !isOwnPath(returnTo)) throw badRequest("return_to must be a path on this site", "return_to");
    const { url, secrets } = await provider.begin(`${baseUrl}${CALLBACK}`);
    return { url, secret: writeLoginSecret({ ...secrets, orgId, returnTo }) };
  };
}

/**
 * Ends a sign-in: exchanges the provider's response, which the browser brings back, for a session. A person is known by their subject at the provider; at
 * the first sign-in by the address that it has verified.
 * @throws unauthenticated where no provider is set, or when the sign-in was not completed or is another one; forbidden for an address that is not
 * admitted or belongs to another person; service_unavailable when the provider does not answer; the errors of `enterAs`
 */
export function finishOidcLogin(deps: ControlDeps): ControlHandlers["finishOidcLogin"] {
  return async ({ baseUrl, answer, secret: text }, call) => {
    const { provider, admission } = requireOidc(deps.settings);
    const secret = readLoginSecret(text);
    if (secret === undefined) throw new AppError("unauthenticated", "the sign-in has expired; begin again");
    const address = new URL(`${baseUrl}${CALLBACK}`);
    address.search = new URLSearchParams(answer).toString();
    const person = readClaims(await provider.finish(address, secret), admission);
    const created = await deps.db.transaction(async (tx) => {
      const user = await userOf(tx, deps, person);
      return enterAs(tx, deps, call, user, {
        orgName: "",
        accountType: "personal",
        planTier: "free",
        seatEmails: [],
        inviteOrgId: secret.orgId,
        inviteToken: "",
      });
    });
    deps.wakeRelay();
    return { created, returnTo: secret.returnTo };
  };
}

/** @throws forbidden when the address belongs to a user with another identity at the provider */
async function userOf(tx: Tx, { newId, now }: ControlDeps, person: Person): Promise<UserRow> {
  const known = await findUserByIdentity(tx, person);
  if (known !== undefined) return known;
  const user = await upsertUser(tx, { id: newId(), ...person, now: now() });
  // The row of the user is locked: of two first sign-ins the second finds the identity.
  if (!(await insertIdentity(tx, person, { userId: user.id, now: now() }))) {
    const meanwhile = await findUserByIdentity(tx, person);
    if (meanwhile !== undefined) return meanwhile;
    throw new AppError("forbidden", "the e-mail address belongs to another account of the identity provider");
  }
  return user;
}

function requireOidc({ oidc }: ControlDeps["settings"]): NonNullable<ControlDeps["settings"]["oidc"]> {
  if (oidc === undefined) throw new AppError("unauthenticated", "this way of signing in is not enabled");
  return oidc;
}
