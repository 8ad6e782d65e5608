import { monthOf, type Month } from "@tidemark/limits";
import type { CountedRequests, MonthRequests } from "@tidemark/proto/usage/v1/usage";

/** A request that was admitted and has to be answered. */
export type Counted = { readonly orgId: string; readonly month: string };

/** A count on the wire. */
export type Count = Pick<CountedRequests, "orgId" | "month" | "requests">;

/** Counts requests of organizations by calendar months in UTC, in memory. */
export type RequestCounts = {
  /** Counts a request that is admitted. It is reported once it is answered. */
  readonly add: (orgId: string) => Counted;
  /** Notes the end of a request. One that failed in the service (5xx) is not counted. */
  readonly answered: (counted: Counted, status: number) => void;
  /** Returns the requests of this month, of all gateways as far as this one knows, and those that are not answered yet. */
  readonly used: (orgId: string) => number;
  /** Notes the total that all gateways have reported. */
  readonly learn: (orgId: string, month: string, total: number) => void;
  /** Takes at most `max` counts for a report. They stay in `used` until `reported` is called. */
  readonly takeReport: (max: number) => Count[];
  /** Notes that the counts of the latest report are in the totals. */
  readonly reported: (totals: readonly MonthRequests[]) => void;
  /** The month of this moment. */
  readonly month: () => Month;
};

type Entry = {
  month: string;
  /** The total that all gateways have reported, as known here. */
  total: number;
  /** Answered, and not reported yet. */
  fresh: number;
  /** Not answered yet. */
  open: number;
  /** In a report that has not been answered. */
  reporting: number;
  touchedMs: number;
};

/** Entries not touched for this long are forgotten; the next lease returns the total again. */
const KEPT_MS = 60_000;

/** Creates the counts of this process; `wallMs` is the wall clock. */
export function createRequestCounts(wallMs: () => number): RequestCounts {
  const entries = new Map<string, Entry>();
  /** Counts of months that have ended. */
  const closed: Count[] = [];
  let month = monthOf(new Date(wallMs()));

  const current = () => {
    const now = wallMs();
    if (now >= month.endsAt.getTime() || now < month.startsAt.getTime()) month = monthOf(new Date(now));
    return month;
  };

  const find = (orgId: string): Entry => {
    const { name } = current();
    let entry = entries.get(orgId);
    if (entry === undefined || entry.month !== name) {
      if (entry !== undefined && entry.fresh > 0) closed.push({ orgId, month: entry.month, requests: entry.fresh });
      entry = { month: name, total: 0, fresh: 0, open: 0, reporting: 0, touchedMs: 0 };
      entries.set(orgId, entry);
    }
    return entry;
  };

  return {
    month: current,
    add(orgId) {
      const entry = find(orgId);
      entry.open += 1;
      entry.touchedMs = wallMs();
      return { orgId, month: entry.month };
    },
    answered({ orgId, month: of }, status) {
      const entry = entries.get(orgId);
      const counts = status < 500 ? 1 : 0;
      if (entry?.month === of) {
        entry.open -= 1;
        entry.fresh += counts;
      } else if (counts > 0) closed.push({ orgId, month: of, requests: counts });
    },
    used(orgId) {
      const entry = find(orgId);
      return entry.total + entry.fresh + entry.open + entry.reporting;
    },
    learn(orgId, of, total) {
      const entry = find(orgId);
      // Otherwise it is not known whether the report is in it.
      if (entry.month === of && entry.reporting === 0) entry.total = total;
    },
    takeReport(max) {
      const now = wallMs();
      const counts = closed.splice(0, max);
      for (const [orgId, entry] of entries) {
        if (counts.length >= max) break;
        if (entry.fresh > 0) {
          counts.push({ orgId, month: entry.month, requests: entry.fresh });
          entry.reporting = entry.fresh;
          entry.fresh = 0;
        } else if (entry.open === 0 && now - entry.touchedMs > KEPT_MS) entries.delete(orgId);
      }
      return counts;
    },
    reported(totals) {
      for (const { orgId, month: of, requests } of totals) {
        const entry = entries.get(orgId);
        if (entry?.month !== of) continue;
        entry.total = Number(requests);
        entry.reporting = 0;
      }
    },
  };
}
