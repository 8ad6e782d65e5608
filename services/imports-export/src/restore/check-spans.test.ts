import { expect, test } from "@jest/globals";
import type { LineOf } from "@tidemark/archive";
import { checkSpans } from "./check-spans.rules.ts";

type Span = LineOf<"trace.spans">["spans"][number];

const trace_id = "1".padStart(32, "0");
const span = {
  span_id: "1".padStart(16, "0"),
  sequence: 1,
  name: "s",
  kind: "model",
  status: "ok",
  started_at: 1.7e15,
  ended_at: 1.7e15 - 1_000_000,
  duration_ms: 0,
  previews: true,
  input_preview: "x".repeat(4096),
  redaction_state: "captured",
  truncated: false,
} as unknown as Span;

test("a span within all bounds passes", () => {
  expect(() => checkSpans({ trace_id, spans: [span] })).not.toThrow();
});

test.each<[string, Partial<Span>]>([
  ["an id of zeros", { span_id: "0".repeat(16) }],
  ["itself as its parent", { parent_span_id: span.span_id }],
  ["a part of a microsecond", { started_at: 1.5 }],
  ["an end long before its start", { ended_at: 1.7e15 - 1_000_001 }],
  ["a negative duration", { duration_ms: -1 }],
  ["half a rank", { rank: 0.5 }],
  ["no name", { name: "" }],
  ["a thread that is too long", { thread_id: "é".repeat(257) }],
  ["a preview that is too long", { input_preview: "x".repeat(4097) }],
  ["a preview that was not allowed", { previews: false, redaction_state: "redacted" }],
  ["captured content that was not allowed", { previews: false, input_preview: "" }],
  ["attributes that are too long", { attributes: `{"a":"${"x".repeat(32 * 1024)}"}` }],
])("a span with %s does not", (_what, change) => {
  expect(() => checkSpans({ trace_id, spans: [span, { ...span, ...change }] })).toThrow(/spans\[1\]/);
});

test("a trace of zeros does not pass", () => {
  expect(() => checkSpans({ trace_id: "0".repeat(32), spans: [span] })).toThrow(/trace_id/);
});
