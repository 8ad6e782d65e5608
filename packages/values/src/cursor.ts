import { readSeconds } from "./read-instant.ts";

/** A value that a cursor may hold. */
export type CursorField = string | number | null | readonly CursorField[];

/** Returns fields as an opaque text: JSON in base64url (RFC 4648, section 5) without padding. Numbers are finite. */
export function writeCursor(fields: readonly CursorField[]): string {
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

/** Returns the fields of a cursor that has `count` of them; undefined for every text that `writeCursor` does not write. The caller checks the fields. */
export function readCursor(cursor: string, count: number): readonly unknown[] | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (!Array.isArray(fields) || fields.length !== count) return undefined;
    // Refuses other spellings: what base64url skips, white space, objects that are written otherwise.
    return writeCursor(fields as CursorField[]) === cursor ? (fields as readonly unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a value is an instant as answers write them, in UTC and to the microsecond at most, and accepted by PostgreSQL. */
export function isInstant(value: unknown): value is string {
  return typeof value === "string" && /^.{19}(\.\d{1,6})?Z$/.test(value) && !Number.isNaN(readSeconds(value));
}
