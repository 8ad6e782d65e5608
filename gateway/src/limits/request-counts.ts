import { monthOf, type Month } from "@tidemark/limits";
import type { CountedRequests, MonthRequests, ReportRequestsResponse } from "@tidemark/proto/usage/v1/usage";
import type { Log } from "@tidemark/telemetry";

/** A request that was admitted and has to be answered. */
export type Counted = { readonly orgId: string; readonly month: string };

/** A count on the wire. */
type Count = Pick<CountedRequests, "orgId" | "month" | "requests">;

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

/** A report on the wire. */
export type Report = {
  readonly gatewayId: string;
  readonly sequence: bigint;
  readonly counts: Count[];
  readonly leaving: boolean;
};

/** Reports counted requests periodically, and knows the number of gateways. */
export type GatewayReports = {
  /** Begins with a report that announces this gateway to the others; does not wait. */
  readonly start: () => void;
  /** Live gateways, this one included; 1 until the first answer. */
  readonly gateways: () => number;
  /** Reports the rest, and that this gateway ends. */
  readonly stop: () => Promise<void>;
};

/** The most that a killed gateway loses (API specification, Rate limits: requests are counted in the customer's favor). */
const REPORT_MS = 2000;
const COUNTS_MAX = 10_000;
const LAST_ATTEMPTS = 3;

/** Creates the reports. A report that was not answered is sent again unchanged, with its number, so that no request is counted twice. */
export function createGatewayReports(options: {
  readonly gatewayId: string;
  readonly counts: RequestCounts;
  readonly send: (report: Report) => Promise<ReportRequestsResponse>;
  readonly log: Log;
}): GatewayReports {
  const { gatewayId, counts, send, log } = options;
  let gateways = 1;
  let sequence = 0n;
  let unanswered: Report | undefined;
  let hasFailed = false;
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const report = async (leaving: boolean): Promise<boolean> => {
    unanswered ??= { gatewayId, sequence: (sequence += 1n), counts: counts.takeReport(COUNTS_MAX), leaving };
    try {
      const answer = await send(unanswered);
      unanswered = undefined;
      counts.reported(answer.totals);
      gateways = Math.max(1, answer.gateways);
      hasFailed = false;
      return true;
    } catch (error) {
      if (!hasFailed) log.warn("requests could not be reported; the report is repeated", { error });
      hasFailed = true;
      return false;
    }
  };
  const queue = (): void => {
    running = running.then(async () => void (await report(false)));
  };

  return {
    gateways: () => gateways,
    start() {
      queue();
      timer = setInterval(queue, REPORT_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
      // One more than attempts: an unanswered report is sent first.
      for (let attempt = 0; attempt < LAST_ATTEMPTS; attempt += 1) {
        const isLast = unanswered === undefined || unanswered.leaving;
        if ((await report(true)) && isLast) return;
      }
    },
  };
}
