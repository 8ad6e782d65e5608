import { AppError } from "@tidemark/errors";
import type { Log } from "@tidemark/telemetry";
import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  ClientSecretPost,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
  type Configuration,
} from "openid-client";
import type { Claims, LoginSecret, ProviderSettings } from "./oidc.rules.ts";

/** Secrets of a login. */
type LoginSecrets = Pick<LoginSecret, "state" | "nonce" | "verifier">;

/** A provider at which people sign in: the code flow with PKCE (OpenID Connect Core 1.0, section 3.1; RFC 7636). */
export type Provider = {
  /** Returns where to send a browser, and the secrets that it has to keep until it is back. @throws service_unavailable */
  readonly begin: (redirectUri: string) => Promise<{ readonly url: string; readonly secrets: LoginSecrets }>;
  /**
   * Exchanges the code in the address at which the browser came back for the provider's claims about the person.
   * @throws unauthenticated when the provider refused, or the login is not the one that was begun; service_unavailable
   */
  readonly finish: (address: URL, secrets: LoginSecrets) => Promise<Claims>;
};

/** The scopes of every provider that say who signs in (OpenID Connect Core 1.0, section 5.4). */
const SCOPES = "openid email profile";
/** A request to the provider takes at most this long; a sign-in makes up to three. */
const TIMEOUT_SECONDS = 3;
/** A provider's keys and addresses are read again after this time. */
const KNOWN_MS = 60 * 60 * 1000;

/** Creates the provider. Its addresses are read when they are first needed, so a start does not depend on it. `nowMs` never goes back. */
export function createProvider(
  settings: ProviderSettings,
  { log, nowMs }: { readonly log: Log; readonly nowMs: () => number },
): Provider {
  let known: { readonly found: Promise<Configuration>; readonly untilMs: number } | undefined;

  const discover = async (): Promise<Configuration> => {
    const { issuer, clientId, clientSecret } = settings;
    const authentication = clientSecret === undefined ? None() : ClientSecretPost(clientSecret);
    const isInsecure = new URL(issuer).protocol === "http:";
    // The settings allow only a provider on this machine to be without TLS.
    // oxlint-disable-next-line typescript/no-deprecated -- marked by the library to make it stand out
    const execute = isInsecure ? [allowInsecureRequests] : [];
    const found = await discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      execute,
    });
    found.timeout = TIMEOUT_SECONDS;
    return found;
  };
  const configuration = (): Promise<Configuration> => {
    if (known !== undefined && known.untilMs > nowMs()) return known.found;
    const found = discover().catch((error: unknown) => {
      known = undefined;
      log.warn("the identity provider could not be asked", { error });
      throw unavailable(error);
    });
    known = { found, untilMs: nowMs() + KNOWN_MS };
    return found;
  };

  return {
    async begin(redirectUri) {
      const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: SCOPES,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, secrets };
    },
    async finish(address, { state, nonce, verifier }) {
      const config = await configuration();
      try {
        const tokens = await authorizationCodeGrant(config, address, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const { iss: issuer, sub: subject, ...token } = tokens.claims()!;
        // Many providers return the address only on request.
        const told =
          typeof token["email"] === "string" ? token : await fetchUserInfo(config, tokens.access_token, subject);
        return { ...told, issuer, subject };
      } catch (error) {
        throw refusalOf(error, log);
      }
    },
  };
}

/** The error codes of a response that belongs to another login, or is forged or old. */
const NOT_THIS_LOGIN: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

function refusalOf(error: unknown, log: Log): AppError {
  // The person did not agree, or the code is used up or old.
  if (error instanceof AuthorizationResponseError) return notCompleted(error);
  if (error instanceof ResponseBodyError && error.error === "invalid_grant") return notCompleted(error);
  log.warn("a sign-in at the identity provider failed", { error });
  if (error instanceof ClientError && NOT_THIS_LOGIN.has(error.code ?? "")) return notCompleted(error);
  return unavailable(error);
}

function notCompleted(cause: unknown): AppError {
  return new AppError("unauthenticated", "the sign-in was not completed; begin again", { cause });
}

function unavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "the identity provider does not answer as it should; try again", {
    retryAfterSeconds: 1,
    cause,
  });
}
