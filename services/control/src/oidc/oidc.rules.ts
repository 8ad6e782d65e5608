import { AppError } from "@tidemark/errors";
import { readEmail } from "../organizations/people.rules.ts";

/** The identity that a provider vouches for. */
export type IdentityKey = { readonly issuer: string; readonly subject: string };

/** The claims of a provider about a person who signed in there. */
export type Claims = IdentityKey & {
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
  readonly picture?: unknown;
};

/** A person who is admitted. */
export type Person = IdentityKey & {
  readonly email: string;
  readonly displayName: string;
  readonly avatarUrl: string;
};

/** The rules by which this installation admits people. */
export type Admission = {
  /** Domains of addresses, in lower case; empty: any. */
  readonly domains: readonly string[];
  /** Whether addresses that the provider does not mark as verified are accepted. */
  readonly trustsEmail: boolean;
};

const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 2048;

/**
 * Reads a provider's claims about a person (OpenID Connect Core 1.0, section 5.1). Invalid names and pictures are left out.
 * @throws forbidden without an address that was verified there, or with an address of a domain that is not admitted
 */
export function readClaims(claims: Claims, { domains, trustsEmail }: Admission): Person {
  const { issuer, subject } = claims;
  if (typeof claims.email !== "string" || claims.email === "")
    throw new AppError("forbidden", "the identity provider does not return your e-mail address");
  // Some providers write the flag as a text.
  const isVerified = claims.email_verified === true || claims.email_verified === "true";
  if (!isVerified && !trustsEmail)
    throw new AppError("forbidden", "the identity provider has not verified your e-mail address");
  const email = readAddress(claims.email);
  const domain = email.slice(email.lastIndexOf("@") + 1);
  if (domains.length > 0 && !domains.includes(domain))
    throw new AppError("forbidden", "addresses of this domain cannot sign in here");
  return { issuer, subject, email, displayName: nameOf(claims.name), avatarUrl: pictureOf(claims.picture) };
}

function readAddress(text: string): string {
  try {
    return readEmail(text);
  } catch (cause) {
    throw new AppError("forbidden", "the identity provider returns an invalid e-mail address", { cause });
  }
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? name.trim().slice(0, NAME_CHARACTERS_MAX) : "";
}

function pictureOf(picture: unknown): string {
  if (typeof picture !== "string" || picture.length > URL_CHARACTERS_MAX || !URL.canParse(picture)) return "";
  return new URL(picture).protocol === "https:" ? picture : "";
}

/** The secrets that a browser keeps between the start and the end of a login at a provider; no other party may know them. */
export type LoginSecret = {
  /** Returned in the response of the provider: another site cannot end a login that it began. */
  readonly state: string;
  /** Contained in the ID token: it was made for this login. */
  readonly nonce: string;
  /** Of PKCE (RFC 7636): a thief of the code cannot use it. */
  readonly verifier: string;
  /** The organization whose seat to take, and the path to go to afterwards; empty for none. */
  readonly orgId: string;
  readonly returnTo: string;
};

/** Writes the secret as a text of a cookie. */
export function writeLoginSecret({ state, nonce, verifier, orgId, returnTo }: LoginSecret): string {
  return Buffer.from(JSON.stringify([state, nonce, verifier, orgId, returnTo])).toString("base64url");
}

/** Reads the text that `writeLoginSecret` wrote; undefined for every other text. */
export function readLoginSecret(text: string): LoginSecret | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || fields.length !== 5 || !fields.every((field) => typeof field === "string"))
    return undefined;
  const [state, nonce, verifier, orgId, returnTo] = fields as [string, string, string, string, string];
  if (state === "" || nonce === "" || verifier === "") return undefined;
  return { state, nonce, verifier, orgId, returnTo: isOwnPath(returnTo) ? returnTo : "" };
}

const PATH_CHARACTERS_MAX = 1024;

/** Returns whether a text is a path on this site that browsers cannot misread: no address of another site, no line end. */
export function isOwnPath(text: string): boolean {
  return text.length <= PATH_CHARACTERS_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\");
}

/** The OpenID Connect provider of an installation, and the client as which it knows us. */
export type ProviderSettings = {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
};

/** The variables that set the provider at which people sign in. */
export type OidcConfig = {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  readonly oidcDomains: readonly string[];
  readonly oidcTrustEmail: boolean;
};

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Returns the faults that only combinations of variables have. */
export function oidcFaults({ oidcIssuer, oidcClientId }: OidcConfig): string[] {
  if (oidcIssuer === undefined)
    return oidcClientId === undefined ? [] : ["TIDEMARK_OIDC_CLIENT_ID needs TIDEMARK_OIDC_ISSUER"];
  const faults: string[] = [];
  const { protocol, hostname } = new URL(oidcIssuer);
  if (protocol !== "https:" && !loopback.has(hostname))
    faults.push("TIDEMARK_OIDC_ISSUER must be an https URL, except on this machine");
  if (oidcClientId === undefined) faults.push("TIDEMARK_OIDC_ISSUER needs TIDEMARK_OIDC_CLIENT_ID");
  return faults;
}

/** Returns where people sign in and who is admitted; undefined where no provider is set. The settings have no faults. */
export function oidcSettingsOf(config: OidcConfig): { provider: ProviderSettings; admission: Admission } | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    provider: { issuer, clientId, clientSecret: config.oidcClientSecret },
    admission: {
      domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
      trustsEmail: config.oidcTrustEmail,
    },
  };
}
