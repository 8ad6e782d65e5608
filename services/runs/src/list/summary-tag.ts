import { createHash, type Hash } from "node:crypto";
import { createPauses } from "@tidemark/turns";
import type { RunRow } from "../read/runs.sql.ts";

/** Raise it when the same rows give another answer. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Returns the tag of a page: twenty characters of URL-safe text, equal for equal pages. When a run was last seen, and whether it is stale, is no
 * part of it. `rest` is what the page has besides its rows.
 */
export async function summaryTag(rows: readonly RunRow[], rest: readonly unknown[]): Promise<string> {
  const hash = createHash("sha256");
  const pauseIfLong = createPauses();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) if (name !== "seen_at") add(hash, value);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  add(hash, JSON.stringify([FORM, rest]));
  return hash.digest().subarray(0, TAG_BYTES).toString("base64url");
}

/** Adds a value behind its length, so that no two lists of values are added alike. */
function add(hash: Hash, value: unknown): void {
  const data = typeof value === "string" || Buffer.isBuffer(value) ? value : (JSON.stringify(value) ?? "");
  hash.update(`${data.length} ${typeof value} `).update(data);
}

/** Tells whether the page with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
