import fc from "fast-check";
import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";
import { eachRunField } from "@tidemark/run-state";
import type { ArchiveLine, LineKind, LineOf } from "./line.ts";

/** Objects as decoded lines have them. */
const recordOf = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    '"',
    "\\",
    "\u0000\n\r\t",
    "\u2028\u2029",
    "\ud800",
    "\ud83d\ude00",
    "__proto__",
    '{"type":"end"}\n',
    "",
  ),
);
const uuid = fc.uuid();
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 1e308, -1e308, 5e-324, 2 ** 53, 0.1, 1e21),
);
const value = fc.oneof(
  { weight: 9, arbitrary: number },
  { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
);
const whole = fc.oneof(fc.nat(), fc.maxSafeNat());
const micros = fc.oneof(
  fc.integer({ min: 0, max: 999_999 }).map((us) => 1_795_176_000_000_000 + us),
  fc.constantFrom(-62_135_596_800_000_000, 253_402_300_799_999_968, 0),
);
const instant = fc
  .tuple(fc.date({ min: new Date(0), max: new Date(253_402_300_799_999), noInvalidDate: true }), fc.nat(999_999))
  .map(([date, us]) => `${date.toISOString().slice(0, 19)}.${String(us).padStart(6, "0")}Z`);
const hexOf = (digits: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: digits, maxLength: digits })
    .map((all) => all.join(""));
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const list = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 4 });

/** JSON with digits, escapes, white space and orders of members that a parser of doubles loses. */
const document = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '{"a":12345678901234567890123,"b":-0,"c":1.0,"d":1e400,"2":1,"1":2}',
    '{"a":1,"a":2,"__proto__":{"x":1}}',
    '{ "é\\u00e9" : [ 1.50 , "\\ud800" , "]}" ] }',
    "-0",
    "1E+2",
    '"\\"}"',
    "null",
  ),
);

const column = (value: fc.Arbitrary<number>, length: number) =>
  fc.array(value, { minLength: length, maxLength: length }).map((values) => Float64Array.from(values));

/** Columns of one length. */
const columns = <T>(of: (length: number) => { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.integer({ min: 1, max: 6 }).chain((length) => recordOf<T>(of(length)));

const gaps = (length: number) => maybe(column(fc.oneof(micros, fc.constant(Number.NaN)), length));

const stop = recordOf({
  state: fc.constantFrom("requested", "acknowledged", "completed", "terminal_without_completion"),
  request_id: uuid,
  reason: maybe(text),
  completion_message: maybe(text),
  actor: maybe(fc.constantFrom("user", "api_key", "local", "unknown")),
  requested_at: maybe(instant),
  acknowledged_at: maybe(instant),
  completed_at: maybe(instant),
  updated_at: maybe(instant),
} as const);

const span = recordOf({
  span_id: hexOf(16),
  sequence: whole,
  sequences: maybe(
    recordOf({
      parent: maybe(whole),
      ended: maybe(whole),
      duration: maybe(whole),
      step: maybe(whole),
      rank: maybe(whole),
    }),
  ),
  parent_span_id: maybe(hexOf(16)),
  name: text,
  kind: fc.constantFrom(...SPAN_KINDS),
  status: fc.constantFrom(...SPAN_STATUSES),
  started_at: micros,
  ended_at: maybe(micros),
  duration_ms: maybe(number),
  step: maybe(number),
  rank: maybe(number),
  thread_id: maybe(text),
  rollout_id: maybe(text),
  error_type: maybe(text),
  attributes: maybe(document),
  metrics: maybe(document),
  links: maybe(document),
  input_preview: maybe(text),
  output_preview: maybe(text),
  error_preview: maybe(text),
  previews: fc.boolean(),
  redaction_state: fc.constantFrom(...REDACTION_STATES),
  truncated: fc.boolean(),
});

type Members = { readonly [K in LineKind]: fc.Arbitrary<Omit<LineOf<K>, "line">> };

const members: Members = {
  export: recordOf({
    version: whole,
    product: text,
    exported_at: instant,
    org_id: uuid,
    selection: recordOf({ project_id: maybe(uuid), run_ids: maybe(list(uuid)) }),
  }),
  project: recordOf({ id: uuid, name: text, description: maybe(text), created_at: instant }),
  run: recordOf({
    id: uuid,
    project_id: uuid,
    name: text,
    status: fc.constantFrom("running", "finished", "failed"),
    config: document,
    tags: list(text),
    metadata: document,
    created_at: instant,
    started_at: instant,
    ...eachRunField({ time: maybe(instant), uuid: maybe(uuid), number: maybe(number) }),
    resume_count: whole,
    lifecycle: list(recordOf({ status_from: text, status_to: text, at: instant, kind: text })),
    stop: maybe(stop),
    readme: maybe(text),
  }),
  points: recordOf({
    run_id: uuid,
    key: text,
    columns: columns((length) => ({
      step: column(number, length),
      value: column(value, length),
      timestamp: gaps(length),
      created_at: column(micros, length),
    })),
  }),
  rank_points: recordOf({
    run_id: uuid,
    key: text,
    columns: columns((length) => ({
      step: column(number, length),
      value: column(value, length),
      rank: column(whole, length),
      world_size: column(whole, length),
      local_rank: column(whole, length),
      weight: column(number, length),
      timestamp: gaps(length),
      created_at: column(micros, length),
    })),
  }),
  lines: recordOf({
    run_id: uuid,
    stream: fc.constantFrom("stdout", "stderr"),
    columns: columns((length) => ({
      line_number: column(whole, length),
      message: fc.array(text, { minLength: length, maxLength: length }),
      timestamp: gaps(length),
      created_at: column(micros, length),
    })),
  }),
  attribute: recordOf({
    id: whole,
    run_id: uuid,
    path: text,
    attribute_type: text,
    step: maybe(number),
    logged_at: instant,
    value: document,
    summary: document,
    created_at: instant,
    artifact_id: maybe(uuid),
  }),
  object: recordOf({
    id: whole,
    run_id: uuid,
    key: text,
    kind: text,
    step: maybe(number),
    artifact_id: maybe(uuid),
    value: document,
    metadata: document,
    summary: document,
    created_at: instant,
  }),
  "object.rows": recordOf({ id: whole, rows: list(document) }),
  artifact: recordOf({
    id: uuid,
    run_id: uuid,
    artifact_type: text,
    name: text,
    step: maybe(number),
    mime_type: text,
    size_bytes: maybe(whole),
    sha256: maybe(text),
    uri: maybe(text),
    metadata: document,
    created_at: instant,
  }),
  collection: recordOf({
    id: uuid,
    project_id: uuid,
    collection_type: text,
    name: text,
    description: maybe(text),
    metadata: document,
    next_index: whole,
    created_at: instant,
    updated_at: instant,
  }),
  version: recordOf({
    id: uuid,
    collection_id: uuid,
    version_index: whole,
    digest: hexOf(64),
    source_run_id: uuid,
    source_step: maybe(number),
    file_count: whole,
    size_bytes: whole,
    state: fc.constantFrom("active", "soft_deleted"),
    aliases: list(text),
    ttl_days: maybe(whole),
    retention_mode: fc.constantFrom("inherit", "days", "keep_forever", "none"),
    expires_at: maybe(instant),
    delete_requested_at: maybe(instant),
    deleted_at: maybe(instant),
    purge_after: maybe(instant),
    purged_at: maybe(instant),
    audit_reason: maybe(text),
    created_at: instant,
  }),
  "version.entries": recordOf({
    id: uuid,
    entries: list(
      recordOf({
        id: uuid,
        path: text,
        kind: fc.constantFrom("file", "directory", "reference"),
        size_bytes: maybe(whole),
        sha256: maybe(hexOf(64)),
        mime_type: text,
        reference_uri: maybe(text),
      } as const),
    ),
  }),
  "version.edges": recordOf({
    id: uuid,
    edges: list(
      recordOf({
        id: uuid,
        run_id: uuid,
        direction: fc.constantFrom("input", "output"),
        source: text,
        created_at: instant,
      } as const),
    ),
  }),
  trace: recordOf({ run_id: uuid, trace_id: hexOf(32), updated_at: micros }),
  "trace.spans": recordOf({ run_id: uuid, trace_id: hexOf(32), spans: list(span) }),
  report: recordOf({
    id: uuid,
    project_id: uuid,
    title: text,
    description: maybe(text),
    visibility: fc.constantFrom("private", "org", "public"),
    author_user_id: maybe(uuid),
    blocks: document,
    created_at: instant,
    updated_at: instant,
  }),
  view: recordOf({
    id: uuid,
    name: text,
    project: maybe(text),
    payload: document,
    visibility: maybe(fc.constantFrom("private", "organization")),
    created_at: instant,
    updated_at: instant,
  }),
  end: recordOf({
    counts: recordOf({
      project: whole,
      run: whole,
      points: whole,
      rank_points: whole,
      lines: whole,
      attribute: whole,
      object: whole,
      artifact: whole,
      collection: whole,
      version: whole,
      trace: whole,
      report: whole,
      view: whole,
    }),
  }),
};

/** Any line of each kind. */
export const anyLineOf = Object.entries(members).map(
  ([kind, any]) =>
    [kind as LineKind, (any as fc.Arbitrary<object>).map((line) => ({ line: kind, ...line }) as ArchiveLine)] as const,
);
