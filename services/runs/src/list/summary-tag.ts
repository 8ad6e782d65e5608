import { createHash, type Hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunRow } from "../read/runs.sql.ts";

/** Raise it when the same rows give another answer. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";
/** This many characters are hashed in some milliseconds. */
const TURN_CHARS = 4_194_304;

/**
 * Returns the tag of a page: twenty characters of URL-safe text, equal for equal pages. When a run was last seen, and whether it is stale, is no
 * part of it. `rest` is what the page has besides its rows.
 */
export async function summaryTag(rows: readonly RunRow[], rest: readonly unknown[]): Promise<string> {
  const hash = createHash("sha256");
  let turn = 0;
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) if (name !== "seen_at") turn += add(hash, value);
    if (turn > TURN_CHARS) {
      turn = 0;
      await nextTurn();
    }
  }
  add(hash, JSON.stringify([FORM, rest]));
  return hash.digest().subarray(0, TAG_BYTES).toString("base64url");
}

/** Adds a value behind its length, so that no two lists of values are added alike. Returns the length. */
function add(hash: Hash, value: unknown): number {
  const data = typeof value === "string" || Buffer.isBuffer(value) ? value : (JSON.stringify(value) ?? "");
  hash.update(`${data.length} ${typeof value} `).update(data);
  return data.length;
}

/** Tells whether the page with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
