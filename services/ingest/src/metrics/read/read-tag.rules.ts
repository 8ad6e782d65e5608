import { createHash } from "node:crypto";

/** Increase it when the answers to the same question about the same points change. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Returns the tag of an answer to a question about runs: twenty characters of URL-safe text. Equal questions have equal tags while no run gets
 * points, because the version of a run rises with each of its writes.
 */
export function readTag(question: readonly unknown[], versions: readonly number[]): string {
  return createHash("sha256")
    .update(JSON.stringify([FORM, question, versions]))
    .digest()
    .subarray(0, TAG_BYTES)
    .toString("base64url");
}

/** Returns whether the answer with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
