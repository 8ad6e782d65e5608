import { describe, expect, test } from "@jest/globals";
import type { ArchiveLine, LineOf } from "@tidemark/archive";
import { checkArtifacts, checkAttributes, checkObjects, checkSpans } from "./check-run-data.rules.ts";
import { artifact, collection, edges, entries, version } from "./artifact-lines.fixture.ts";
import { ATTRIBUTE_TYPES, OBJECT_KINDS } from "@tidemark/limits";

const entry = entries.entries[0]!;
const edge = edges.edges[0]!;

describe("a line of artifacts", () => {
  test.each([artifact, collection, version, entries, edges])("of the kind $line passes", (line) => {
    expect(() => checkArtifacts(line)).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown type", { ...artifact, artifact_type: "dir" }],
    ["a name of 513 bytes", { ...artifact, name: "é".repeat(256) + "x" }],
    ["a character that is not stored", { ...artifact, name: "a\0" }],
    ["a negative step", { ...artifact, step: -1 }],
    ["bytes without a hash", { ...artifact, sha256: undefined }],
    ["bytes without a size", { ...artifact, size_bytes: undefined }],
    ["metadata that is not an object", { ...artifact, metadata: "[1]" }],
    ["a day that there is not", { ...artifact, created_at: "2026-02-30T00:00:00Z" }],
    ["the year 0", { ...artifact, created_at: "0000-01-01T00:00:00Z" }],
    ["an unknown type of collection", { ...collection, collection_type: "x" }],
    ["an index that is too large", { ...collection, next_index: 2 ** 31 }],
    ["a reserved alias", { ...version, aliases: ["latest"] }],
    ["a deleted version without its time", { ...version, state: "soft_deleted" }],
    ["an unknown retention", { ...version, retention_mode: "days", ttl_days: 4000 }],
    ["a purged version that is active", { ...version, purged_at: version.created_at }],
    ["a path that leads away", { ...entries, entries: [{ ...entry, path: "../a" }] }],
    ["a file without a hash", { ...entries, entries: [entry, { ...entry, sha256: undefined }] }],
    ["a reference to nothing", { ...entries, entries: [{ ...entry, kind: "reference" }] }],
    ["an edge without a source", { ...edges, edges: [{ ...edge, source: "" }] }],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkArtifacts(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });

  test("of another kind passes", () => {
    expect(() => checkArtifacts({ line: "object.rows", id: 1, rows: [] })).not.toThrow();
  });
});

const attribute: LineOf<"attribute"> = {
  line: "attribute",
  id: 1,
  run_id: "0198a8a0-0000-7000-8000-000000000001",
  path: "é".repeat(256),
  attribute_type: "config",
  step: 0,
  logged_at: "2026-01-01T00:00:00Z",
  value: "12345678901234567890.0",
  summary: "{}",
  created_at: "2026-01-01T00:00:00Z",
  artifact_id: undefined,
};

describe("a line of an attribute", () => {
  test.each(ATTRIBUTE_TYPES)("of the type %s passes", (attribute_type) => {
    expect(() => checkAttributes({ ...attribute, attribute_type })).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown type", { ...attribute, attribute_type: "table" }],
    ["no path", { ...attribute, path: "" }],
    ["a path of 513 bytes", { ...attribute, path: `${attribute.path}x` }],
    ["a path that cannot be stored", { ...attribute, path: "a\0" }],
    ["a negative step", { ...attribute, step: -1 }],
    ["a day that there is not", { ...attribute, logged_at: "2026-02-30T00:00:00Z" }],
    ["the year 0", { ...attribute, created_at: "0000-01-01T00:00:00Z" }],
    ["a value that is not JSON", { ...attribute, value: "{" }],
    ["a summary that is not an object", { ...attribute, summary: "[]" }],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkAttributes(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});

const object: LineOf<"object"> = {
  line: "object",
  id: 1,
  run_id: "0198a8a0-0000-7000-8000-000000000001",
  key: "a",
  kind: "table",
  step: undefined,
  artifact_id: undefined,
  value: "null",
  metadata: "{}",
  summary: '{"row_count":1,"columns":["a"]}',
  created_at: "2026-01-01T00:00:00Z",
};
const rowsOf = (...rows: string[]): ArchiveLine => ({ line: "object.rows", id: 1, rows });
const rowOfColumns = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, 1])));
const textOf = (bytes: number): string => JSON.stringify({ a: "x".repeat(bytes - 8) });

describe("a line of objects", () => {
  test.each(OBJECT_KINDS)("of the kind %s passes", (kind) => {
    expect(() => checkObjects({ ...object, kind })).not.toThrow();
  });

  test("with the largest rows passes", () => {
    expect(() => checkObjects(rowsOf("{}", rowOfColumns(128), textOf(16_384)))).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown kind", { ...object, kind: "text" }],
    ["no key", { ...object, key: "" }],
    ["a negative step", { ...object, step: -1 }],
    ["a day that there is not", { ...object, created_at: "2026-02-30T00:00:00Z" }],
    ["a value that is too long", { ...object, value: textOf(65_537) }],
    ["a value that is not JSON", { ...object, value: "x" }],
    ["metadata that are too long", { ...object, metadata: textOf(16_385) }],
    ["a summary that is not an object", { ...object, summary: "1" }],
    ["a row that is not an object", rowsOf("{}", "[]")],
    ["a row of 129 columns", rowsOf(rowOfColumns(129))],
    ["a row of 16,385 bytes", rowsOf(textOf(16_385))],
    ["a column that cannot be stored", rowsOf(String.raw`{"a\u0000":1}`)],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkObjects(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});

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
