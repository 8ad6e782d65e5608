import { describe, expect, test } from "@jest/globals";
import { readJsonSpans, type OtlpSpan } from "@tidemark/otlp";
import { EventKind, RedactionState, SpanKind, SpanStatus } from "@tidemark/proto/traces/v1/traces";
import { eventOf } from "./span-event.ts";

type Value = string | number | boolean | object;

const valueOf = (value: Value): object => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return value;
  return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
};
const attributes = (values: Readonly<Record<string, Value>>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }));

const sent = {
  traceId: "ab".repeat(16),
  spanId: "cd".repeat(8),
  name: "chat",
  startTimeUnixNano: "1767225600123456789",
  endTimeUnixNano: "1767225601000000999",
};

function spanOf(fields: object, values: Readonly<Record<string, Value>> = {}): OtlpSpan {
  const span = { ...sent, attributes: attributes(values), ...fields };
  const reading = readJsonSpans({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }, 1);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  return step.value[0]!.spans[0]!;
}
const noResource = new Map();
const event = (fields: object = {}, values: Readonly<Record<string, Value>> = {}) => {
  const made = eventOf(spanOf(fields, values), noResource);
  if ("rejected" in made) throw new Error(made.rejected);
  const json = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes!).toString()) as unknown;
  return {
    ...made,
    attributes: json(made.attributesJson),
    metrics: json(made.metricsJson),
    links: json(made.linksJson),
  };
};

describe("a span becomes the event that it has finished", () => {
  test("with times to the microsecond and its end as sequence", () => {
    expect(event({ parentSpanId: "EF".repeat(8) }, { model: "small", "tidemark.step": 7.5 })).toMatchObject({
      traceId: "ab".repeat(16),
      spanId: "cd".repeat(8),
      parentSpanId: "ef".repeat(8),
      name: "chat",
      sequence: 1_767_225_601_000_000,
      startedUs: 1_767_225_600_123_456,
      endedUs: 1_767_225_601_000_000,
      eventKind: EventKind.FINISHED,
      status: SpanStatus.OK,
      kind: SpanKind.CUSTOM,
      step: 7.5,
      attributes: { model: "small" },
      metrics: {},
      links: [],
      previews: false,
      redactionState: RedactionState.NOT_CAPTURED,
      truncated: false,
    });
  });

  test.each([[""], ["00".repeat(8)]])("%j is not a parent", (parentSpanId) => {
    expect(event({ parentSpanId }).parentSpanId).toBe("");
  });

  test("one that has not ended is running, and any end precedes it", () => {
    const running = event({ endTimeUnixNano: "0" });
    expect(running).toMatchObject({ status: SpanStatus.RUNNING, sequence: 0, eventKind: EventKind.STARTED });
    expect(running).not.toHaveProperty("endedUs");
  });

  test("an error is an error, with the type that its exception has", () => {
    const exception = { name: "exception", attributes: attributes({ "exception.type": "ValueError" }) };
    expect(event({ status: { code: 2, message: "boom" }, events: [exception] })).toMatchObject({
      status: SpanStatus.ERROR,
      errorType: "ValueError",
    });
    expect(event({ status: { code: 1 } }).status).toBe(SpanStatus.OK);
    expect(event({ status: { code: 0 } }).status).toBe(SpanStatus.OK);
  });

  test("attributes keep their names, nested ones are JSON", () => {
    const nested = {
      kvlistValue: { values: attributes({ x: 1, y: { arrayValue: { values: [{ boolValue: true }] } } }) },
    };
    expect(event({}, { "a.b": nested, big: { intValue: "9007199254740993" } })).toMatchObject({
      attributes: { "a.b": { x: 1, y: [true] } },
      attributesJson: Buffer.from('{"a.b":{"x":1,"y":[true]},"big":9007199254740993}'),
    });
  });

  test("links name the other span", () => {
    const link = { traceId: "12".repeat(16), spanId: "34".repeat(8), attributes: attributes({ why: "retry" }) };
    expect(event({ links: [link] }).links).toEqual([
      { trace_id: "12".repeat(16), span_id: "34".repeat(8), attributes: { why: "retry" } },
    ]);
  });
});

describe("kinds", () => {
  test.each<[Record<string, string>, SpanKind]>([
    [{ "tidemark.kind": "reward", "openinference.span.kind": "LLM" }, SpanKind.REWARD],
    [{ "tidemark.kind": "nonsense", "openinference.span.kind": "LLM" }, SpanKind.MODEL],
    [{ "openinference.span.kind": "EMBEDDING" }, SpanKind.MODEL],
    [{ "openinference.span.kind": "TOOL" }, SpanKind.TOOL],
    [{ "openinference.span.kind": "RETRIEVER" }, SpanKind.RETRIEVAL],
    [{ "openinference.span.kind": "RERANKER" }, SpanKind.RETRIEVAL],
    [{ "openinference.span.kind": "EVALUATOR" }, SpanKind.EVALUATOR],
    [{ "openinference.span.kind": "CHAIN" }, SpanKind.CUSTOM],
    [{ "openinference.span.kind": "AGENT", "gen_ai.operation.name": "chat" }, SpanKind.MODEL],
    [{ "gen_ai.operation.name": "chat" }, SpanKind.MODEL],
    [{ "gen_ai.operation.name": "text_completion" }, SpanKind.MODEL],
    [{ "gen_ai.operation.name": "generate_content" }, SpanKind.MODEL],
    [{ "gen_ai.operation.name": "embeddings" }, SpanKind.MODEL],
    [{ "gen_ai.operation.name": "execute_tool" }, SpanKind.TOOL],
    [{ "gen_ai.operation.name": "constructor" }, SpanKind.CUSTOM],
    [{}, SpanKind.CUSTOM],
  ])("%j", (values, kind) => expect(event({}, values).kind).toBe(kind));
});

describe("metrics", () => {
  test.each<[Record<string, Value>, object]>([
    [
      { "gen_ai.usage.input_tokens": 3, "gen_ai.usage.cost_usd": 0.5, "gen_ai.usage.note": "x" },
      { "gen_ai.usage.input_tokens": 3, "gen_ai.usage.cost_usd": 0.5 },
    ],
    [
      { "gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.completion_tokens": 4 },
      {
        "gen_ai.usage.prompt_tokens": 3,
        "gen_ai.usage.completion_tokens": 4,
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 4,
      },
    ],
    [
      { "gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.input_tokens": 5 },
      { "gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.input_tokens": 5 },
    ],
    [{ "llm.token_count.prompt": 8 }, { "gen_ai.usage.input_tokens": 8 }],
    [{ "http.status_code": 200 }, {}],
  ])("of %j", (values, metrics) => {
    const made = event({}, values);
    expect(made.metrics).toEqual(metrics);
    expect(made.attributes).toEqual(values);
  });
});

describe("content", () => {
  const content = {
    "input.value": "What is 2 + 2?",
    "output.value": "4",
    "gen_ai.input.messages": "[]",
    "gen_ai.prompt.0.content": "What?",
    "llm.input_messages.0.message.content": "What?",
    "gen_ai.system_instructions": "Be brief.",
  };
  const events = [
    { name: "gen_ai.content.prompt", attributes: attributes({ "gen_ai.prompt": "What?" }) },
    { name: "gen_ai.choice", attributes: attributes({ content: "4" }) },
  ];

  test("is dropped unless the policy lets it through", () => {
    const made = event({ events }, { ...content, model: "small" });
    expect(made).toMatchObject({ attributes: { model: "small" }, previews: false });
    expect(Buffer.from(JSON.stringify(made)).includes("2 + 2")).toBe(false);
    expect(made).not.toHaveProperty("inputPreview");
    expect(event({}, { ...content, "tidemark.content_policy": "off" }).previews).toBe(false);
  });

  test("becomes previews with the policy preview, of the span or of its resource", () => {
    const captured = {
      inputPreview: "What is 2 + 2?",
      outputPreview: "4",
      previews: true,
      redactionState: RedactionState.CAPTURED,
      attributes: {},
    };
    expect(event({}, { ...content, "tidemark.content_policy": "preview" })).toMatchObject(captured);
    const resource = new Map([["tidemark.content_policy", { json: '"preview"', text: "preview" }]]);
    expect(eventOf(spanOf({}, content), resource)).toMatchObject({ inputPreview: "What is 2 + 2?", previews: true });
  });

  test("is a list of messages where it is flattened, one attribute a field", () => {
    const flat = {
      "gen_ai.prompt.1.content": "What?",
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.0.role": "system",
      "gen_ai.prompt.0.content": "Be brief.",
      "llm.output_messages.0.message.content": "4",
      "tidemark.content_policy": "preview",
    };
    const { inputPreview, outputPreview } = event({ events }, flat);
    expect(JSON.parse(inputPreview!)).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What?" },
    ]);
    expect(JSON.parse(outputPreview!)).toEqual([{ content: "4" }]);
  });

  test("is read from events where attributes have none", () => {
    expect(event({ events }, { "tidemark.content_policy": "preview" })).toMatchObject({
      inputPreview: "What?",
      outputPreview: "4",
    });
  });

  test("is cut to 4 KiB", () => {
    const made = event({}, { "input.value": "é".repeat(3000), "tidemark.content_policy": "preview" });
    expect(made).toMatchObject({
      inputPreview: "é".repeat(2048),
      truncated: true,
      redactionState: RedactionState.TRUNCATED,
    });
  });

  test("the text of an error needs the policy too", () => {
    const fields = { status: { code: 2, message: "no such key: sk-secret" } };
    expect(event(fields)).not.toHaveProperty("errorPreview");
    expect(event(fields, { "tidemark.content_policy": "preview" }).errorPreview).toBe("no such key: sk-secret");
  });
});

describe("long values are cut, and the span is marked", () => {
  test.each<[string, object, Record<string, Value>]>([
    ["a name", { name: "n".repeat(513) }, {}],
    ["a thread", {}, { "gen_ai.conversation.id": "t".repeat(513) }],
    ["attributes", {}, { a: "x".repeat(20_000), b: "y".repeat(20_000) }],
    ["metrics", {}, Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`gen_ai.usage.metric_${i}_of_many`, i]))],
    [
      "links",
      {
        links: Array.from({ length: 200 }, () => ({ traceId: "12".repeat(16), spanId: "34".repeat(8) })),
      },
      {},
    ],
  ])("%s", (_what, fields, values) => {
    const made = event(fields, values);
    expect(made.truncated).toBe(true);
    expect(made.attributesJson!.length).toBeLessThanOrEqual(32_768);
    expect(made.metricsJson!.length).toBeLessThanOrEqual(16_384);
    expect(made.linksJson!.length).toBeLessThanOrEqual(16_384);
    expect(Buffer.byteLength(made.name!)).toBeLessThanOrEqual(512);
  });

  test("a span without a name gets one", () => expect(event({ name: " " })).toMatchObject({ name: "unknown" }));
});

describe("invalid spans are rejected", () => {
  test.each<[object, RegExp]>([
    [{ traceId: "" }, /trace id/],
    [{ traceId: "ab".repeat(8) }, /trace id/],
    [{ traceId: "00".repeat(16) }, /trace id/],
    [{ spanId: "" }, /span id/],
    [{ spanId: "cd".repeat(16) }, /span id/],
    [{ spanId: "00".repeat(8) }, /span id/],
    [{ parentSpanId: "ab" }, /parent/],
    [{ parentSpanId: "cd".repeat(8) }, /its own parent/],
    [{ startTimeUnixNano: "0" }, /start time/],
    [{ startTimeUnixNano: "9007199254740992000" }, /2255/],
    [{ endTimeUnixNano: "9007199254740992000" }, /2255/],
    [{ endTimeUnixNano: "1767225599123455000" }, /ends before it starts/],
  ])("%j", (fields, rejected) => {
    expect(eventOf(spanOf(fields), noResource)).toEqual({ rejected: expect.stringMatching(rejected) });
  });

  test("an end up to a second before the start is a matter of clocks", () => {
    expect(event({ endTimeUnixNano: "1767225599123456789" })).toMatchObject({ endedUs: 1_767_225_599_123_456 });
  });
});
