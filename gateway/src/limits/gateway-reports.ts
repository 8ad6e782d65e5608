import type { ReportRequestsResponse } from "@tidemark/proto/usage/v1/usage";
import type { Log } from "@tidemark/telemetry";
import type { Count, RequestCounts } from "./request-counts.ts";

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
