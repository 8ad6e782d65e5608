import { createHash } from "node:crypto";
import { badRequest } from "@tidemark/errors";

const lengthMax = 63;
const shape = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The short name of an organization as somebody chose it. @throws bad_request */
export function readSlug(text: string): string {
  if (!shape.test(text)) {
    throw badRequest("slug must have 1 to 63 lower-case letters, digits and hyphens, no hyphen at the ends", "slug");
  }
  return text;
}

const something = /[\p{L}\p{N}]/u;

/**
 * The short name that follows from a name: Latin letters without their accents, digits, single
 * hyphens. A name in another script gets one made from its hash, always the same.
 * @throws bad_request for a name without any letter or digit
 */
export function slugOf(name: string): string {
  if (!something.test(name)) throw badRequest("name must have a letter or a digit", "name");
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, "");
  return plain === "" ? `org-${createHash("sha256").update(name).digest("hex").slice(0, 12)}` : plain;
}

/** The same short name with something behind it, for when it is taken; stays within the length. */
export function withSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, lengthMax - suffix.length - 1).replace(/-+$/, "")}-${suffix}`;
}

/** What a person's own organization is called when they do not say: after them, or the part of their address before the @. */
export function personalName(email: string, displayName: string): string {
  const before = email.slice(0, email.indexOf("@"));
  return [displayName, before].find((name) => something.test(name)) ?? "Personal";
}
