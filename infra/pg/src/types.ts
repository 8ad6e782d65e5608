import pg from "pg";

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const JSON_TEXT = 114;
const JSONB = 3802;
const NUMERIC = 1700;

/**
 * `2026-01-02 03:04:05.678901+00` as RFC 3339 with the microseconds that PostgreSQL keeps.
 * Sessions run in UTC (see `createDb`), so the offset is always `+00`.
 */
function rfc3339(text: string): string {
  return `${text.replace(" ", "T").replace(/\+00(:00)?$/, "")}Z`;
}

/**
 * How column values arrive: 64-bit integers as numbers (all of ours stay below 2^53), instants as
 * RFC 3339 texts in UTC, JSON as its text so that numbers keep their digits.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: unknown) {
    if (format === undefined || format === "text") {
      if (oid === INT8) return Number;
      if (oid === TIMESTAMPTZ) return rfc3339;
      if (oid === JSON_TEXT || oid === JSONB || oid === NUMERIC) return (text: string) => text;
    }
    return pg.types.getTypeParser(oid, format as "text") as (text: string) => unknown;
  },
};
