import { readDecimals, readSeconds, SECONDS_CHARACTERS } from "@tidemark/values";
import { type SentTime, encodeLogBlock, type LogColumns } from "@tidemark/codecs/logs";

const SECOND_US = 1_000_000;
const DECIMALS_MAX = 6;

/** Reads an RFC 3339 time in UTC with at most six decimals, exactly, for the years 1 to 9999. Returns undefined for anything else. */
export function readSentTime(text: string): SentTime | undefined {
  if (!text.endsWith("Z")) return undefined;
  const seconds = readSeconds(text);
  const micros = readMicros(text);
  return Number.isNaN(seconds) || Number.isNaN(micros) ? undefined : { seconds, micros };
}

/** Reads the text between the seconds and the Z as microseconds; NaN when it is neither empty nor decimals. */
function readMicros(text: string): number {
  const end = text.length - 1;
  if (end === SECONDS_CHARACTERS) return 0;
  const from = SECONDS_CHARACTERS + 1;
  return text[SECONDS_CHARACTERS] === "." && end - from <= DECIMALS_MAX ? readDecimals(text, from, end) : Number.NaN;
}

/**
 * Creates a writer for columns of times: RFC 3339 in UTC without trailing zeros, as PostgreSQL writes them. It remembers the latest second,
 * because neighbors often share it.
 */
export function createTimeWriter(): (seconds: number, micros: number) => string {
  let latest = Number.NaN;
  let whole = "";
  return (seconds, micros) => {
    if (seconds !== latest) {
      whole = new Date(seconds * 1000).toISOString().slice(0, -".000Z".length);
      latest = seconds;
    }
    return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0").replace(/0+$/, "")}Z`;
  };
}

/** Returns whole microseconds since the Unix epoch as seconds and microseconds. */
export function splitMicros(micros: number): SentTime {
  const seconds = Math.floor(micros / SECOND_US);
  return { seconds, micros: micros - seconds * SECOND_US };
}

/**
 * A segment up to this size fits into a page of PostgreSQL with its row: to compress it would cost the server more than writing it costs
 * PostgreSQL, and it is compacted within a minute. Larger segments are compressed, so that less is written to the disk.
 */
const COMPRESS_FROM = 7_500;

/** Returns the block of a new segment. */
export function segmentBlockOf(columns: LogColumns): Uint8Array {
  return encodeLogBlock(columns, { compressFrom: COMPRESS_FROM });
}
