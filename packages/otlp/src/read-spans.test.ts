import { describe, expect, test } from "@jest/globals";
import { SpanStatusCode, TraceFlags, type Attributes as SentAttributes, type SpanContext } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace";
import fc from "fast-check";
import { exactInteger } from "@tidemark/values";
import * as json from "./read-json.ts";
import * as protobuf from "./read-protobuf.ts";
import { SpansFault, type ResourceSpans } from "./span.ts";

// The requests that the exporters of the OpenTelemetry SDK send, in both encodings.

const other: SpanContext = { traceId: "ab".repeat(16), spanId: "cd".repeat(8), traceFlags: TraceFlags.SAMPLED };

function spanWith(name: string, attributes: SentAttributes): ReadableSpan {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const span = provider.getTracer("test").startSpan(name, {
    attributes,
    startTime: [1_767_225_600, 123_456_789],
    links: [{ context: other, attributes: { why: "retry" } }],
  });
  span.addEvent("exception", { "exception.type": "ValueError" });
  span.setStatus({ code: SpanStatusCode.ERROR, message: "no such file" });
  span.end([1_767_225_601, 5]);
  return exporter.getFinishedSpans()[0]!;
}

function finish(reading: Generator<void, ResourceSpans[]>): ResourceSpans[] {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

const readProtobufSpans = (bytes: Uint8Array, spansMax: number) => finish(protobuf.readProtobufSpans(bytes, spansMax));
const readJsonSpans = (body: unknown, spansMax: number) => finish(json.readJsonSpans(body, spansMax));

const protobufOf = (spans: ReadableSpan[]): Uint8Array => ProtobufTraceSerializer.serializeRequest(spans)!;
const jsonOf = (spans: ReadableSpan[]): unknown =>
  JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans)));

const encodings = [
  ["protobuf", (spans: ReadableSpan[], max = 100) => readProtobufSpans(protobufOf(spans), max)],
  ["JSON", (spans: ReadableSpan[], max = 100) => readJsonSpans(jsonOf(spans), max)],
] as const;

describe.each(encodings)("an export in %s", (_encoding, read) => {
  test("has its spans with all that was recorded", () => {
    const sent = spanWith("chat", {
      "gen_ai.request.model": "small",
      "gen_ai.usage.input_tokens": 12,
      ratio: 0.5,
      stream: true,
      stops: ["a", "b"],
      exact: Number.MAX_SAFE_INTEGER,
    });
    const [resource] = read([sent]);
    expect(resource!.resource.get("service.name")?.text).toMatch(/^unknown_service/);
    expect(resource!.spans).toHaveLength(1);
    const [span] = resource!.spans;
    expect(span).toMatchObject({
      traceId: sent.spanContext().traceId,
      spanId: sent.spanContext().spanId,
      parentSpanId: "",
      name: "chat",
      startNs: 1_767_225_600_123_456_789n,
      endNs: 1_767_225_601_000_000_005n,
      failed: true,
      statusText: "no such file",
      links: [{ traceId: other.traceId, spanId: other.spanId, attributes: new Map([["why", expect.anything()]]) }],
      events: [{ name: "exception", attributes: new Map([["exception.type", expect.anything()]]) }],
    });
    expect(Object.fromEntries(Array.from(span!.attributes, ([key, { json }]) => [key, json]))).toEqual({
      "gen_ai.request.model": '"small"',
      "gen_ai.usage.input_tokens": "12",
      ratio: "0.5",
      stream: "true",
      stops: '["a","b"]',
      exact: "9007199254740991",
    });
  });

  test("is refused with more spans than allowed", () => {
    const spans = Array.from({ length: 4 }, (_, i) => spanWith(`s${i}`, {}));
    expect(read(spans, 4).flatMap((resource) => resource.spans.map(({ name }) => name))).toEqual([
      "s0",
      "s1",
      "s2",
      "s3",
    ]);
    expect(() => read(spans, 3)).toThrow(SpansFault);
  });

  test("has texts that can be stored", () => {
    const [resource] = read([spanWith("s\0", { nul: "a\0b" })]);
    expect(resource!.spans[0]!.name).toBe("s\u{FFFD}");
    expect(resource!.spans[0]!.attributes.get("nul")?.text).toBe("a\u{FFFD}b");
  });
});

test("both encodings are read as the same spans", () => {
  const value = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.boolean(),
    fc.maxSafeInteger(),
    // The SDK sends whole doubles as integers, in JSON with the digits that JavaScript shows.
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number)),
    fc.array(fc.string(), { maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.dictionary(fc.string({ minLength: 1 }), value), (name, attributes) => {
      const sent = [spanWith(name, attributes)];
      expect(readProtobufSpans(protobufOf(sent), 10)).toEqual(readJsonSpans(jsonOf(sent), 10));
    }),
    { numRuns: 200 },
  );
});

describe("in protobuf", () => {
  const whole = protobufOf([spanWith("chat", { a: "b", n: [1, 2, 3] })]);

  test("a request that was cut anywhere is refused or has fewer resources", () => {
    for (let length = 1; length < whole.length; length += 1) {
      expect(() => readProtobufSpans(whole.subarray(0, length), 10)).toThrow(SpansFault);
    }
    expect(readProtobufSpans(new Uint8Array(), 10)).toEqual([]);
  });

  test("numbers that JSON has not are texts", () => {
    const [resource] = readProtobufSpans(protobufOf([spanWith("s", { nan: NaN, up: Infinity })]), 10);
    const { attributes } = resource!.spans[0]!;
    expect(attributes.get("nan")).toEqual({ json: '"NaN"' });
    expect(attributes.get("up")).toEqual({ json: '"Infinity"' });
  });

  test("any bytes are read or refused", () => {
    const attempt = (bytes: Uint8Array): void => {
      try {
        readProtobufSpans(bytes, 10);
      } catch (error) {
        expect(error).toBeInstanceOf(SpansFault);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), attempt));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const bytes = Uint8Array.from(whole);
        bytes[at] = byte;
        attempt(bytes);
      }),
      { numRuns: 1000 },
    );
  });

  const nested = (field: number, bytes: Uint8Array): Uint8Array => {
    const size = [];
    for (let left = bytes.length; ; left >>>= 7) {
      size.push(left > 127 ? (left & 127) | 128 : left);
      if (left <= 127) break;
    }
    return Buffer.concat([Uint8Array.of((field << 3) | 2, ...size), bytes]);
  };

  /** Returns `count` empty messages of a field. */
  const many = (field: number, count: number): Uint8Array => Buffer.alloc(2 * count, Buffer.of((field << 3) | 2, 0));

  test.each([
    ["attributes", many(9, 20_001)],
    ["values", nested(9, nested(2, nested(5, many(1, 20_001))))],
    ["events", many(11, 20_001)],
    ["names", many(5, 20_001)],
    ["unknown fields", many(12, 20_001)],
  ])("a span of too many %s is refused", (_what, span) => {
    expect(() => readProtobufSpans(nested(1, nested(2, nested(2, span))), 10)).toThrow(SpansFault);
  });

  test.each([
    ["resources", many(1, 1000)],
    ["scopes", nested(1, many(2, 1000))],
    ["spans", nested(1, nested(2, many(2, 1000)))],
  ])("others have a turn after each of the %s, and no resource is kept without a span", (what, bytes) => {
    const reading = protobuf.readProtobufSpans(bytes, 1000);
    let turns = 0;
    while (reading.next().done !== true) turns += 1;
    expect(turns).toBeGreaterThanOrEqual(1000);
    expect(readProtobufSpans(bytes, 1000)).toHaveLength(what === "spans" ? 1 : 0);
  });

  test("values that lie deep in each other end at the bound", () => {
    // ArrayValue in AnyValue, again and again.
    let value = new Uint8Array();
    for (let depth = 0; depth < 5000; depth += 1) value = Uint8Array.from(nested(5, nested(1, value)));
    const attribute = nested(9, Uint8Array.from([...nested(1, Buffer.from("deep")), ...nested(2, value)]));
    const [resource] = readProtobufSpans(nested(1, nested(2, nested(2, attribute))), 10);
    expect(resource!.spans[0]!.attributes.get("deep")!.json).toBe(`${"[".repeat(63)}null${"]".repeat(63)}`);
  });
});

describe("in JSON", () => {
  test.each<[string, object]>([
    ["attributes", { attributes: Array.from({ length: 5001 }, () => ({})) }],
    ["values", { attributes: [{ value: { arrayValue: { values: Array.from({ length: 10_001 }, () => ({})) } } }] }],
    ["links", { links: Array.from({ length: 20_001 }, () => ({})) }],
  ])("a span of too many %s is refused", (_what, span) => expect(() => read(span)).toThrow(SpansFault));

  const withSpan = (span: object): unknown => ({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const read = (span: object) => readJsonSpans(withSpan(span), 10)[0]!.spans[0]!;
  const attribute = (value: object) => read({ attributes: [{ key: "a", value }] }).attributes.get("a");

  test.each<[object, string]>([
    [{ intValue: "9223372036854775807" }, "9223372036854775807"],
    [{ intValue: "-9223372036854775808" }, "-9223372036854775808"],
    [{ intValue: 7 }, "7"],
    [{ intValue: exactInteger(9007199254740993n) }, "9007199254740993"],
    [{ intValue: exactInteger(-(2n ** 63n)) }, "-9223372036854775808"],
    [{ doubleValue: exactInteger(9007199254740993n) }, "9007199254740992"],
    [{ arrayValue: { values: [{ intValue: exactInteger(9007199254740993n) }] } }, "[9007199254740993]"],
    [{ intValue: "007" }, "7"],
    [{ doubleValue: "1.5" }, "1.5"],
    [{ doubleValue: "-Infinity" }, '"-Infinity"'],
    [{ bytesValue: "AAE=" }, '"AAE="'],
    [{ kvlistValue: { values: [{ key: "k", value: { boolValue: false } }] } }, '{"k":false}'],
    [{ kvlistValue: { values: [{ key: "__proto__", value: { intValue: 1 } }] } }, '{"__proto__":1}'],
    [{ arrayValue: {} }, "[]"],
    [{ unknownValue: 1 }, "null"],
    [{}, "null"],
  ])("%j is %s", (value, json) => expect(attribute(value)).toMatchObject({ json }));

  test("ids in either case, times as texts or numbers, unknown fields ignored, null is absent", () => {
    expect(
      read({
        traceId: "AB".repeat(16),
        spanId: "0c".repeat(8),
        parentSpanId: null,
        name: "s",
        kind: "SPAN_KIND_INTERNAL",
        startTimeUnixNano: "1767225600123456789",
        endTimeUnixNano: exactInteger(1_767_225_600_123_456_789n),
        status: { code: "STATUS_CODE_ERROR" },
        trace_state: 5,
        attributes: null,
      }),
    ).toMatchObject({
      traceId: "ab".repeat(16),
      spanId: "0c".repeat(8),
      parentSpanId: "",
      startNs: 1_767_225_600_123_456_789n,
      endNs: 1_767_225_600_123_456_789n,
      failed: true,
    });
  });

  test.each<[string, unknown]>([
    ["a list", []],
    ["resources that are not a list", { resourceSpans: {} }],
    ["a resource that is not an object", { resourceSpans: [1] }],
    ["an id that is not hexadecimal", withSpan({ traceId: "xyz" })],
    ["half a byte", withSpan({ spanId: "abc" })],
    ["a name that is a number", withSpan({ name: 5 })],
    ["a time before 1970", withSpan({ startTimeUnixNano: -1 })],
    ["a time with a fraction", withSpan({ startTimeUnixNano: "1.5" })],
    ["a time that is a number beyond 64 bits", withSpan({ startTimeUnixNano: exactInteger(2n ** 64n) })],
    [
      "an integer that is a number beyond 64 bits",
      withSpan({ attributes: [{ key: "a", value: { intValue: exactInteger(10n ** 19n) } }] }),
    ],
    ["a status that is a long number", withSpan({ status: exactInteger(2n ** 60n + 1n) })],
    ["a time beyond 64 bits", withSpan({ startTimeUnixNano: "18446744073709551616" })],
    ["an attribute that is not an object", withSpan({ attributes: ["a"] })],
    ["an integer with a fraction", withSpan({ attributes: [{ key: "a", value: { intValue: 1.5 } }] })],
    ["a double that is none", withSpan({ attributes: [{ key: "a", value: { doubleValue: "much" } }] })],
    ["a boolean that is none", withSpan({ attributes: [{ key: "a", value: { boolValue: "true" } }] })],
  ])("refuses %s", (_what, body) => expect(() => readJsonSpans(body, 10)).toThrow(SpansFault));
});
