import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "@jest/globals";
import { ReportRequestsResponseSchema, type ReportRequestsResponse } from "@tidemark/proto/usage/v1/usage";
import { createLog } from "@tidemark/telemetry";
import { createGatewayReports, createRequestCounts, type GatewayReports, type Report } from "./request-counts.ts";

let reports: GatewayReports;
afterEach(() => reports.stop());

/** Reports that are answered by `answers` one after the other, then with an empty answer. */
function setUp(answers: (() => Promise<ReportRequestsResponse>)[]) {
  const counts = createRequestCounts(() => Date.parse("2026-01-02T00:00:00Z"));
  const sent: Report[] = [];
  reports = createGatewayReports({
    gatewayId: "g",
    counts,
    send: (report) => {
      sent.push(report);
      return (answers.shift() ?? (() => Promise.resolve(create(ReportRequestsResponseSchema, { gateways: 3 }))))();
    },
    log: createLog({ level: "error", service: "test" }),
  });
  return { counts, sent };
}

test("it announces itself at the start, and its end with the last counts", async () => {
  const { counts, sent } = setUp([]);
  reports.start();
  counts.answered(counts.add("a"), 200);
  await reports.stop();
  expect(sent.map(({ sequence, leaving }) => [sequence, leaving])).toEqual([
    [1n, false],
    [2n, true],
  ]);
  expect(sent.flatMap((report) => report.counts)).toEqual([{ orgId: "a", month: "2026-01", requests: 1 }]);
  expect(reports.gateways()).toBe(3);
});

test("a report that was not answered is sent again as it was, before anything else", async () => {
  const gone = () => Promise.reject(new Error("gone"));
  const { counts, sent } = setUp([gone]);
  counts.answered(counts.add("a"), 200);
  reports.start();
  await Promise.resolve();
  counts.answered(counts.add("a"), 200);
  await reports.stop();
  expect(sent.map(({ sequence, leaving, counts: of }) => [sequence, leaving, of[0]?.requests])).toEqual([
    [1n, false, 1],
    [1n, false, 1],
    [2n, true, 1],
  ]);
});

test("without answers there is one gateway, and the end does not wait for long", async () => {
  const gone = () => Promise.reject(new Error("gone"));
  const { sent } = setUp([gone, gone, gone, gone, gone]);
  reports.start();
  await reports.stop();
  expect(reports.gateways()).toBe(1);
  expect(sent).toHaveLength(4);
});
