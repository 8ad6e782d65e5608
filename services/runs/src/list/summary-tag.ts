import { createHash, type Hash } from "node:crypto";
import { createPauses } from "@tidemark/work";
import type { RunRow } from "../read/runs.sql.ts";

/** Raise it when the same rows give another answer. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Returns the tag of a page: twenty characters of URL-safe text, equal for equal pages. When a run was last seen, and whether it is stale, is not
 * part of it. `rest` holds the parts of the page other than its rows.
 */
export async function summaryTag(rows: readonly RunRow[], rest: readonly unknown[]): Promise<string> {
  const hash = createHash("sha256");
  const pauseIfLong = createPauses();
  for (const row of rows) {
    addRow(hash, row);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  hash.update(JSON.stringify([FORM, rest]));
  return hash.digest().subarray(0, TAG_BYTES).toString("base64url");
}

/**
 * Adds each value after its length, so that no two rows are added alike; the bytes follow the texts. As few pieces as possible: a hash takes as long
 * for a call as for hundreds of bytes.
 */
function addRow(hash: Hash, row: RunRow): void {
  let text = "";
  const bytes: Buffer[] = [];
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    if (name === "seen_at") continue;
    if (Buffer.isBuffer(value)) {
      text += `${value.length} bytes `;
      bytes.push(value);
    } else {
      const data = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      text += `${data.length} ${typeof value} ${data}`;
    }
  }
  hash.update(`${text.length} ${text}`);
  if (bytes.length > 0) hash.update(Buffer.concat(bytes));
}

/** Returns whether the page with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
