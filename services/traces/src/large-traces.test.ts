import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { TRACE_LIMITS } from "@tidemark/limits";
import { callOf, eventOf, newTraceId, NOON_US, spanId, startTraces, type TracesFixture } from "./traces.fixture.ts";

let traces: TracesFixture;
beforeAll(async () => {
  traces = await startTraces();
});
afterAll(() => traces.close());

test("a trace is read as a whole until its last span, counts as truncated beyond 100,000 spans, and ends at its bound", async () => {
  const tenant = await traces.newTenant();
  const [call, traceId] = [callOf(tenant), newTraceId()];
  const { runId } = tenant;
  let written = 0;
  const writeTo = async (total: number): Promise<void> => {
    while (written < total) {
      const count = Math.min(TRACE_LIMITS.exportedSpansMax, total - written);
      const events = Array.from({ length: count }, (_, i) => {
        const number = written + i;
        const parentSpanId = number === 0 ? "" : spanId(Math.floor((number - 1) / 500));
        return eventOf({ traceId, spanId: spanId(number), parentSpanId, sequence: 1, startedUs: NOON_US + number });
      });
      await traces.client.appendTraceEvents({ runId, events }, call);
      written += count;
    }
  };
  const summary = async () => (await traces.client.getTrace({ runId, traceId, spanLimit: 1 }, call)).trace!;

  await writeTo(TRACE_LIMITS.wholeSpansMax);
  expect(await summary()).toMatchObject({ spanCount: TRACE_LIMITS.wholeSpansMax, truncated: false, rootCount: 1 });
  await writeTo(TRACE_LIMITS.wholeSpansMax + 1);
  expect(await summary()).toMatchObject({ spanCount: TRACE_LIMITS.wholeSpansMax + 1, truncated: true });

  await writeTo(TRACE_LIMITS.spansMax);
  const one = (number: number, name: string) =>
    traces.client.appendTraceEvents(
      { runId, events: [eventOf({ traceId, spanId: spanId(number), sequence: 2, name, startedUs: NOON_US })] },
      call,
    );
  await expect(one(TRACE_LIMITS.spansMax, "one more")).rejects.toMatchObject({ reason: "bad_request" });
  await one(TRACE_LIMITS.spansMax - 1, "the last one");
  const parentSpanId = spanId(Math.floor((TRACE_LIMITS.spansMax - 2) / 500));
  // As a process sees it that reads all segments first.
  const { spans, childCount } = await traces.newProcess().listSpans({ runId, traceId, parentSpanId, limit: 500 }, call);
  expect([spans.length, childCount]).toEqual([499, 499]);
  expect(spans.find((span) => span.spanId === spanId(TRACE_LIMITS.spansMax - 1))).toMatchObject({
    name: "the last one",
  });
  expect(await summary()).toMatchObject({ spanCount: TRACE_LIMITS.spansMax, orphanCount: 0 });
});
