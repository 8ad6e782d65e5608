import type { SentTime } from "@tidemark/log-codec";

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?Z$/;
const SECOND_US = 1_000_000;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads RFC 3339 in UTC with at most six decimals, every digit of it, for the years 1 to 9999; undefined for anything else. By arithmetic, because
 * a request may bring fifty of them and Date takes several times as long to read one and to find out that there is no 30 February.
 */
export function readSentTime(text: string): SentTime | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const days = month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  if (year < 1 || day < 1 || day > days || hour > 23 || minute > 59 || second > 59) return undefined;
  return {
    seconds: ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second,
    micros: Number((match[7] ?? "").padEnd(6, "0")),
  };
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days of the Gregorian calendar, counted in years that begin with March, so that the leap day comes last. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const daysBefore = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + daysBefore + day - 1 - 719_468;
}

/**
 * A writer for columns of times, which remembers the latest second because neighbours often share it:
 * RFC 3339 in UTC, without trailing zeros, as PostgreSQL's columns come back.
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

/** Whole microseconds since the Unix epoch as seconds and microseconds. */
export function splitMicros(micros: number): SentTime {
  const seconds = Math.floor(micros / SECOND_US);
  return { seconds, micros: micros - seconds * SECOND_US };
}
