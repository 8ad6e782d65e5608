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
