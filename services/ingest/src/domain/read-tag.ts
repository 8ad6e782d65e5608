import { createHash } from "node:crypto";

/** To be raised when answers to the same question about the same points become others. */
const FORM = 1;
const TAG_BYTES = 15;
/** Stands for any tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Names the answer to a question about runs: twenty characters of URL-safe text, equal for equal questions while no run gets points, for a run's
 * version rises with each of its writes.
 */
export function readTag(question: readonly unknown[], versions: readonly number[]): string {
  return createHash("sha256")
    .update(JSON.stringify([FORM, question, versions]))
    .digest()
    .subarray(0, TAG_BYTES)
    .toString("base64url");
}

/** Whether the answer with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
