import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTracing, type TraceContext, type Tracing, withSpan } from "./index.ts";
import { extractTrace, formatTraceparent, newTrace, parseTraceparent } from "./tracing.ts";

const parent: TraceContext = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  sampled: true,
};

describe("while tracing is off", () => {
  test("nothing starts, and stopping it is fine", async () => {
    const tracing = await startTracing({ service: "runs", environment: {} });
    await expect(tracing.shutdown()).resolves.toBeUndefined();
  });

  test("the work gets its parent's trace to hand on", async () => {
    expect(await withSpan("work", {}, (trace) => trace, { parent })).toEqual(parent);
  });

  test("work without a parent gets a new trace that is not recorded", async () => {
    const [one, other] = [await withSpan("work", {}, (trace) => trace), await withSpan("work", {}, (trace) => trace)];
    expect(one).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), sampled: false });
    expect(other.traceId).not.toBe(one.traceId);
  });

  test("what the work throws is thrown", async () => {
    const error = new Error("refused");
    await expect(withSpan("work", {}, () => Promise.reject(error))).rejects.toBe(error);
  });
});

/** Takes OTLP over HTTP and keeps the bodies; names and ids can be found in the bytes of the protobuf messages. */
describe("while a collector is named", () => {
  const bodies: { path: string; bytes: Buffer }[] = [];
  let collector: Server;
  let tracing: Tracing;
  let environment: Record<string, string | undefined>;
  let outer: TraceContext;
  let inner: TraceContext;

  beforeAll(async () => {
    collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        bodies.push({ path: request.url ?? "", bytes: Buffer.concat(parts) });
        response.end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    // oxlint-disable-next-line node/no-process-env -- the SDK reads nothing else
    environment = process.env;
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    tracing = await startTracing({ service: "runs-under-test", environment });
    [outer, inner] = await withSpan(
      "outer-span",
      { note: "sent tm_0123456789abcdef" },
      async (trace) => [trace, await withSpan("inner-span", { rows: 3 }, (nested) => nested)] as const,
      { parent, kind: "server" },
    );
    await withSpan("failing-span", {}, () => Promise.reject(new Error("no key tm_0123456789abcdef"))).catch(() => {});
    await tracing.shutdown();
  });
  afterAll(async () => {
    delete environment["OTEL_EXPORTER_OTLP_ENDPOINT"];
    await new Promise((resolve) => collector.close(resolve));
  });

  test("the spans stay in the trace of the request, each with its own id", () => {
    expect([outer.traceId, inner.traceId]).toEqual([parent.traceId, parent.traceId]);
    expect(new Set([parent.spanId, outer.spanId, inner.spanId]).size).toBe(3);
    expect(inner.sampled).toBe(true);
  });

  test.each(["runs-under-test", "outer-span", "inner-span", "failing-span", "exception"])(
    "the collector gets %s",
    (text) => {
      expect(sent()).toContain(text);
    },
  );

  test("the collector gets the ids that were handed on", () => {
    const bytes = sent();
    for (const id of [outer.spanId, inner.spanId, parent.traceId])
      expect(bytes).toContain(Buffer.from(id, "hex").toString("latin1"));
  });

  test("the collector gets no credential, and traces only", () => {
    expect(sent()).toContain("tm_[redacted]");
    expect(sent()).not.toContain("0123456789abcdef");
    expect(new Set(bodies.map((body) => body.path))).toEqual(new Set(["/v1/traces"]));
  });

  function sent(): string {
    return Buffer.concat(bodies.map((body) => body.bytes)).toString("latin1");
  }
});

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
