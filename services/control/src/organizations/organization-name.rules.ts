import { createHash } from "node:crypto";
import { badRequest } from "@tidemark/errors";

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
