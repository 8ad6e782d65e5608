import { describe, expect, test } from "@jest/globals";
import { extractTrace, formatTraceparent, newTrace, parseTraceparent } from "./traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

describe("parseTraceparent", () => {
  test.each([
    ["a recorded trace", `00-${traceId}-${spanId}-01`, true],
    ["a trace that is not recorded", `00-${traceId}-${spanId}-00`, false],
    ["flags that are not known yet", `00-${traceId}-${spanId}-fe`, false],
    ["a later version with more in it", `cc-${traceId}-${spanId}-01-what-the-future-will-be`, true],
  ])("reads %s", (_, text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, sampled });
  });

  test.each([
    ["nothing", undefined],
    ["an empty text", ""],
    ["the forbidden version", `ff-${traceId}-${spanId}-01`],
    ["version 00 with something behind it", `00-${traceId}-${spanId}-01-x`],
    ["a later version with junk glued on", `cc-${traceId}-${spanId}-01x`],
    ["an empty trace id", `00-${"0".repeat(32)}-${spanId}-01`],
    ["an empty span id", `00-${traceId}-${"0".repeat(16)}-01`],
    ["upper-case digits", `00-${traceId.toUpperCase()}-${spanId}-01`],
    ["a short trace id", `00-${traceId.slice(1)}-${spanId}-01`],
    ["a line break at the end", `00-${traceId}-${spanId}-01\n`],
  ])("refuses %s", (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});

test("what was written into a header is extracted", () => {
  const trace = { traceId, spanId, sampled: true };
  const traceparent = formatTraceparent(trace);
  expect(traceparent).toBe(`00-${traceId}-${spanId}-01`);
  expect(extractTrace({ other: "kept", traceparent })).toEqual(trace);
});

test("without a header there is no trace, and a repeated header counts as none", () => {
  expect(extractTrace({})).toBeUndefined();
  expect(extractTrace({ traceparent: [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`] })).toBeUndefined();
});

test("a new trace is valid, unrecorded, and another one each time", () => {
  const trace = newTrace();
  expect(parseTraceparent(formatTraceparent(trace))).toEqual({ ...trace, sampled: false });
  expect(newTrace().traceId).not.toBe(trace.traceId);
});
