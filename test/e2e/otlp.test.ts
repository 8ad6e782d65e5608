import { randomBytes, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const nanoseconds = (ms: number): string => `${BigInt(ms) * 1_000_000n}`;
const BEGIN = Date.UTC(2026, 0, 5, 10);

type SpanFields = Record<string, unknown>;
const newSpan = (fields: SpanFields = {}): SpanFields => ({
  traceId: randomBytes(16).toString("hex"),
  spanId: randomBytes(8).toString("hex"),
  name: "chat",
  startTimeUnixNano: nanoseconds(BEGIN),
  endTimeUnixNano: nanoseconds(BEGIN + 250),
  ...fields,
});
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const request = (runId: string | undefined, ...spans: SpanFields[]) => ({
  resourceSpans: [
    {
      resource: { attributes: runId === undefined ? [] : [attribute("tidemark.run_id", runId)] },
      scopeSpans: [{ spans }],
    },
  ],
});

describeModes("spans of OpenTelemetry", (stack) => {
  const begin = async () => {
    const organization = await stack().organization();
    const { id } = (await organization.api.post("/runs", { project: "agents" })).json.run;
    return { ...organization, runId: id as string };
  };
  const send = (api: Api, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    api.post("/v1/traces", body, { headers });
  const tracesOf = async (api: Api, runId: string) => (await api.get(`/api/traces?run_id=${runId}`)).json.traces;

  test("a span that cannot be stored takes no other one of its run with it", async () => {
    const { api, runId } = await begin();
    const traceId = randomBytes(16).toString("hex");
    const [a, b, child, late, good] = ["aa", "bb", "cc", "dd", "ee"].map((id) => id.repeat(8));
    const { status, json } = await send(
      api,
      request(
        runId,
        newSpan({ traceId, spanId: a, parentSpanId: b }),
        newSpan({ traceId, spanId: b, parentSpanId: a }),
        newSpan({ traceId, spanId: child, parentSpanId: a }),
        newSpan({ traceId, spanId: late, endTimeUnixNano: `${nanoseconds(Date.UTC(2262, 0, 1))}` }),
        newSpan({ traceId, spanId: good }),
      ),
    );
    expect({ status, json }).toEqual({
      status: 200,
      json: { partialSuccess: { rejectedSpans: "3", errorMessage: expect.stringMatching(/2255.*cycle/s) } },
    });
    const path = `/api/runs/${runId}/traces/${traceId}`;
    const idsOf = async (asked: string) =>
      (await api.get(asked)).json.spans.map(({ span_id }: { span_id: string }) => span_id);
    expect([await idsOf(path), await idsOf(`${path}/spans?parent_span_id=${a}`)]).toEqual([[good], [child]]);
  });

  test.each([
    ["protobuf", ProtobufExporter],
    ["JSON", JsonExporter],
  ] as const)("the exporter of the JavaScript SDK sends %s", async (_encoding, Exporter) => {
    const { key, api, runId } = await begin();
    const exporter = new Exporter({
      url: `${stack().baseUrl}/v1/traces`,
      headers: { authorization: `Bearer ${key}`, "x-tidemark-run-id": runId },
    });
    const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
    const span = provider.getTracer("agent").startSpan("chat small", {
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 12, "input.value": "secret" },
    });
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    await provider.shutdown();
    const { traceId, spanId } = span.spanContext();
    expect(await tracesOf(api, runId)).toMatchObject([
      { trace_id: traceId, root_span_id: spanId, root_name: "chat small", status: "error", kinds: ["model"] },
    ]);
    const { spans } = (await api.get(`/api/runs/${runId}/traces/${traceId}`)).json;
    expect(spans).toMatchObject([
      { span_id: spanId, kind: "model", status: "error", attributes: { "gen_ai.usage.input_tokens": 12 } },
    ]);
    expect(spans[0].metrics).toEqual({ "gen_ai.usage.input_tokens": 12 });
    expect(JSON.stringify(spans)).not.toContain("secret");
  });

  test("a span is read back as it was sent, with times to the microsecond", async () => {
    const { api, runId } = await begin();
    const span = newSpan({
      startTimeUnixNano: "1767607200123456789",
      endTimeUnixNano: "1767607200500000999",
      attributes: [attribute("tidemark.kind", "reward"), { key: "tidemark.step", value: { intValue: "7" } }],
    });
    expect(await send(api, request(runId, span))).toMatchObject({ status: 200, text: "{}" });
    const { spans } = (await api.get(`/api/runs/${runId}/traces/${span["traceId"] as string}`)).json;
    expect(spans).toMatchObject([
      {
        span_id: span["spanId"],
        parent_span_id: null,
        kind: "reward",
        status: "ok",
        started_at: "2026-01-05T10:00:00.123456Z",
        ended_at: "2026-01-05T10:00:00.5Z",
        step: 7,
        content_policy: "off",
        redaction_state: "not_captured",
      },
    ]);
  });

  test("the same span again changes nothing, one that ended later replaces it, an earlier one does not", async () => {
    const { api, runId } = await begin();
    const span = newSpan();
    const path = `/api/runs/${runId}/traces/${span["traceId"] as string}`;
    const named = async (fields: SpanFields) => {
      expect(await send(api, request(runId, { ...span, ...fields }))).toMatchObject({ status: 200, text: "{}" });
      return (await api.get(path)).json.spans[0].name as string;
    };
    await named({});
    const first = (await api.get(path)).json;
    await named({});
    expect((await api.get(path)).json.spans).toEqual(first.spans);
    expect(await named({ name: "later", endTimeUnixNano: nanoseconds(BEGIN + 300) })).toBe("later");
    expect(await named({ name: "earlier", endTimeUnixNano: nanoseconds(BEGIN + 100) })).toBe("later");
    expect((await api.get(path)).json.trace).toMatchObject({ total_span_count: 1 });
  });

  test("a resource takes precedence over the header, and one request writes several runs", async () => {
    const { api, runId } = await begin();
    const other = (await api.post("/runs", { project: "agents" })).json.run.id as string;
    const [one, two] = [newSpan(), newSpan()];
    const both = { resourceSpans: [...request(runId, one).resourceSpans, ...request(undefined, two).resourceSpans] };
    expect(await send(api, both, { "x-tidemark-run-id": other })).toMatchObject({ status: 200, text: "{}" });
    expect(await tracesOf(api, runId)).toMatchObject([{ trace_id: one["traceId"] }]);
    expect(await tracesOf(api, other)).toMatchObject([{ trace_id: two["traceId"] }]);
  });

  test("spans that cannot be stored are counted, the others are stored", async () => {
    const { api, runId } = await begin();
    const foreign = (await begin()).runId;
    const good = newSpan();
    const body = {
      resourceSpans: [
        ...request(runId, good, newSpan({ spanId: "" })).resourceSpans,
        ...request(undefined, newSpan()).resourceSpans,
        ...request("run-7", newSpan()).resourceSpans,
        ...request(foreign, newSpan(), newSpan()).resourceSpans,
        ...request(randomUUID(), newSpan()).resourceSpans,
      ],
    };
    const { status, json } = await send(api, body);
    expect(status).toBe(200);
    expect(json).toEqual({
      partialSuccess: { rejectedSpans: "6", errorMessage: expect.stringMatching(/needs a run.*not found/s) },
    });
    expect(await tracesOf(api, runId)).toMatchObject([{ trace_id: good["traceId"], span_count: 1 }]);
  });

  describe("errors have the shape of the protocol", () => {
    const protobuf = { "content-type": "application/x-protobuf" };

    test("no credentials: 401, in the encoding of the request", async () => {
      const anyone = stack().api;
      expect(await send(anyone, {})).toMatchObject({ status: 401, json: { code: 16, message: expect.any(String) } });
      const answer = await anyone.call("POST", "/v1/traces", { rawBody: new Uint8Array(), headers: protobuf });
      expect(answer).toMatchObject({ status: 401, headers: { "content-type": "application/x-protobuf" } });
      expect(answer.text).toContain("missing bearer token");
    });

    test("a key that may only read: 403", async () => {
      const { api } = await stack().organization({ scopes: ["export:read"] });
      expect(await send(api, {})).toMatchObject({ status: 403, json: { code: 7 } });
    });

    test.each<[string, string | Uint8Array, Record<string, string>]>([
      ["no JSON", "{", {}],
      ["no object", "[]", {}],
      ["another shape", '{"resourceSpans":5}', {}],
      ["bytes that are not protobuf", new Uint8Array([0x0a, 0xff]), protobuf],
      ["another media type", "{}", { "content-type": "text/plain" }],
      ["what is not gzip", "{}", { "content-encoding": "gzip" }],
    ])("%s: 400", async (_what, rawBody, headers) => {
      const { api } = await begin();
      const answer = await api.call("POST", "/v1/traces", {
        rawBody,
        headers: { "content-type": "application/json", ...headers },
      });
      expect(answer.status).toBe(400);
      if (headers["content-type"] === undefined) expect(answer.json).toMatchObject({ code: 3 });
    });

    test("more than 4,096 spans: 400, and none is stored", async () => {
      const { api, runId } = await begin();
      const spans = Array.from({ length: 4097 }, () => newSpan());
      expect(await send(api, request(runId, ...spans))).toMatchObject({ status: 400, json: { code: 3 } });
      expect(await tracesOf(api, runId)).toEqual([]);
      const all = gzipSync(JSON.stringify(request(runId, ...spans.slice(1))));
      const answer = await api.call("POST", "/v1/traces", {
        rawBody: all,
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      });
      expect(answer).toMatchObject({ status: 200, text: "{}" });
    });

    test("more than 4 MiB when it is decompressed: 413", async () => {
      const { api, runId } = await begin();
      const body = gzipSync(JSON.stringify(request(runId, newSpan({ name: "n".repeat(4 * 1024 * 1024) }))));
      const answer = await api.call("POST", "/v1/traces", {
        rawBody: body,
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      });
      expect(answer).toMatchObject({ status: 413, json: { code: 11 } });
    });
  });

  test("an empty request is nothing, in both encodings", async () => {
    const { api } = await begin();
    expect(await send(api, {})).toMatchObject({ status: 200, text: "{}" });
    const answer = await api.call("POST", "/v1/traces", {
      rawBody: new Uint8Array(),
      headers: { "content-type": "application/x-protobuf" },
    });
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "content-type": "application/x-protobuf" } });
  });

  test("an unpaid bill: 402", async () => {
    const { api, runId, orgId } = await begin();
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: "canceled" }, operator);
    const answer = await send(api, request(runId, newSpan()));
    expect([answer.status, answer.json.code]).toEqual([402, 9]);
  });
});
