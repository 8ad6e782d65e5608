// The whole format of an archive, in one file: it is read as a table.

import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES, VIEW_VISIBILITIES } from "@tidemark/limits";
import { eachRunField } from "@tidemark/run-state";
import { columns, numbers, numbersWithGaps, texts, values } from "./columns.ts";
import { document, flag, hex, instant, list, number, optional, record, text, uuid, whole, word } from "./fields.ts";

/** Values that a line of columns, or of parts of something larger, holds at most. */
export const LINE_LENGTHS_MAX = {
  points: 8192,
  rank_points: 8192,
  lines: 1000,
  rows: 100,
  entries: 1000,
  edges: 1000,
  spans: 500,
} as const;

/** What an archive covers: a project, or some runs. */
const selection = record({ project_id: optional(uuid), run_ids: optional(list(uuid)) });

/** A resume of a run, as answers show it. */
const lifecycleEntry = record({ status_from: text, status_to: text, at: instant, kind: text });

/** The stop request of a run. */
const stop = record({
  state: word(["requested", "acknowledged", "completed", "terminal_without_completion"]),
  request_id: uuid,
  reason: optional(text),
  completion_message: optional(text),
  actor: optional(word(["user", "api_key", "local", "unknown"])),
  requested_at: optional(instant),
  acknowledged_at: optional(instant),
  completed_at: optional(instant),
  updated_at: optional(instant),
});

/** A file, a directory or a reference of a version. */
const entry = record({
  id: uuid,
  path: text,
  kind: word(["file", "directory", "reference"]),
  size_bytes: optional(whole),
  sha256: optional(hex(64)),
  mime_type: text,
  reference_uri: optional(text),
});

/** That a run made or used a version. */
const edge = record({
  id: uuid,
  run_id: uuid,
  direction: word(["input", "output"]),
  source: text,
  created_at: instant,
});

/**
 * The data of one event about a span, or of several together. Times are microseconds since the Unix epoch. `sequences` are those of the events that
 * named these members, where they differ from `sequence`.
 */
const span = record({
  span_id: hex(16),
  sequence: whole,
  sequences: optional(
    record({
      parent: optional(whole),
      ended: optional(whole),
      duration: optional(whole),
      step: optional(whole),
      rank: optional(whole),
    }),
  ),
  parent_span_id: optional(hex(16)),
  name: text,
  kind: word(SPAN_KINDS),
  status: word(SPAN_STATUSES),
  started_at: number,
  ended_at: optional(number),
  duration_ms: optional(number),
  step: optional(number),
  rank: optional(number),
  thread_id: optional(text),
  rollout_id: optional(text),
  error_type: optional(text),
  attributes: optional(document),
  metrics: optional(document),
  links: optional(document),
  input_preview: optional(text),
  output_preview: optional(text),
  error_preview: optional(text),
  previews: flag,
  redaction_state: word(REDACTION_STATES),
  truncated: flag,
});

/** Types whose rows the end counts. */
export const COUNTED_TYPES = [
  "project",
  "run",
  "points",
  "rank_points",
  "lines",
  "attribute",
  "object",
  "artifact",
  "collection",
  "version",
  "trace",
  "report",
  "view",
] as const;

/** A type whose rows the end counts. */
export type CountedType = (typeof COUNTED_TYPES)[number];

function ofCountedTypes<T>(value: T): Record<CountedType, T> {
  return Object.fromEntries(COUNTED_TYPES.map((type) => [type, value])) as Record<CountedType, T>;
}

/** Returns counts that begin at 0. */
export function noCounts(): Record<CountedType, number> {
  return ofCountedTypes(0);
}

/** Counts at the end: values of columns, rows of everything else. */
const counts = record(ofCountedTypes(whole));

/**
 * The kinds of lines. The type that a line names is the part before the dot: lines that continue another one have its type and its id.
 *
 * Members that end in `_at` are RFC 3339 texts in UTC with up to six digits of the second, but in columns and spans they are whole microseconds since
 * the Unix epoch, because a double holds these exactly until the year 2255, and a text takes twice the place. Documents are the JSON that was
 * stored, digit by digit.
 */
export const lineShapes = {
  export: record({
    version: whole,
    product: text,
    exported_at: instant,
    org_id: uuid,
    selection,
  }),
  project: record({ id: uuid, name: text, description: optional(text), created_at: instant }),
  run: record({
    id: uuid,
    project_id: uuid,
    name: text,
    status: word(["running", "finished", "failed"]),
    config: document,
    tags: texts,
    /** Its member `notes` are the notes of the run. */
    metadata: document,
    created_at: instant,
    started_at: instant,
    /** The parent is an earlier line, or not in the archive; the artifact may follow later, because a run precedes its artifacts and those of its parent. */
    ...eachRunField({ time: optional(instant), uuid: optional(uuid), number: optional(number) }),
    resume_count: whole,
    lifecycle: list(lifecycleEntry),
    /** Missing if no stop of the run was requested. */
    stop: optional(stop),
    /** Markdown; missing where the run has none. */
    readme: optional(text),
  }),
  /** In the order of their arrival, which decides among points of one step. */
  points: record({
    run_id: uuid,
    key: text,
    columns: columns(
      record({
        step: numbers,
        value: values,
        /** The client's times, null where it sent none; missing if no point has one. */
        timestamp: optional(numbersWithGaps),
        /** When the server received them. */
        created_at: numbers,
      }),
      LINE_LENGTHS_MAX.points,
    ),
  }),
  rank_points: record({
    run_id: uuid,
    key: text,
    columns: columns(
      record({
        step: numbers,
        value: values,
        rank: numbers,
        world_size: numbers,
        local_rank: numbers,
        weight: numbers,
        timestamp: optional(numbersWithGaps),
        created_at: numbers,
      }),
      LINE_LENGTHS_MAX.rank_points,
    ),
  }),
  /** By line number, then by arrival. */
  lines: record({
    run_id: uuid,
    stream: word(["stdout", "stderr"]),
    columns: columns(
      record({
        line_number: numbers,
        message: texts,
        timestamp: optional(numbersWithGaps),
        created_at: numbers,
      }),
      LINE_LENGTHS_MAX.lines,
    ),
  }),
  attribute: record({
    id: whole,
    run_id: uuid,
    path: text,
    attribute_type: text,
    step: optional(number),
    logged_at: instant,
    value: document,
    summary: document,
    created_at: instant,
    artifact_id: optional(uuid),
  }),
  /** Objects made from an attribute are not here: the attribute restores them. */
  object: record({
    id: whole,
    run_id: uuid,
    key: text,
    kind: text,
    step: optional(number),
    artifact_id: optional(uuid),
    value: document,
    metadata: document,
    summary: document,
    created_at: instant,
  }),
  /** The next rows of the table: JSON objects. */
  "object.rows": record({ id: whole, rows: list(document, LINE_LENGTHS_MAX.rows) }),
  artifact: record({
    id: uuid,
    run_id: uuid,
    artifact_type: text,
    name: text,
    step: optional(number),
    mime_type: text,
    /** As the client said of one that is stored elsewhere. */
    size_bytes: optional(whole),
    sha256: optional(text),
    /** Where the bytes are; missing where the installation has them. */
    uri: optional(text),
    metadata: document,
    created_at: instant,
  }),
  collection: record({
    id: uuid,
    project_id: uuid,
    collection_type: text,
    name: text,
    description: optional(text),
    metadata: document,
    /** The index of the next version. */
    next_index: whole,
    created_at: instant,
    updated_at: instant,
  }),
  version: record({
    id: uuid,
    collection_id: uuid,
    version_index: whole,
    digest: hex(64),
    /** May be a run that is not in the archive. */
    source_run_id: uuid,
    source_step: optional(number),
    file_count: whole,
    size_bytes: whole,
    state: word(["active", "soft_deleted"]),
    aliases: texts,
    ttl_days: optional(whole),
    retention_mode: word(["inherit", "days", "keep_forever", "none"]),
    expires_at: optional(instant),
    delete_requested_at: optional(instant),
    deleted_at: optional(instant),
    purge_after: optional(instant),
    purged_at: optional(instant),
    audit_reason: optional(text),
    created_at: instant,
  }),
  "version.entries": record({ id: uuid, entries: list(entry, LINE_LENGTHS_MAX.entries) }),
  "version.edges": record({ id: uuid, edges: list(edge, LINE_LENGTHS_MAX.edges) }),
  trace: record({
    run_id: uuid,
    trace_id: hex(32),
    /** When the last event arrived, in microseconds since the Unix epoch. */
    updated_at: number,
  }),
  /** In the order of arrival; a span is repeated with each later event. */
  "trace.spans": record({ run_id: uuid, trace_id: hex(32), spans: list(span, LINE_LENGTHS_MAX.spans) }),
  report: record({
    id: uuid,
    project_id: uuid,
    title: text,
    description: optional(text),
    visibility: word(["private", "org", "public"]),
    author_user_id: optional(uuid),
    blocks: document,
    created_at: instant,
    updated_at: instant,
  }),
  view: record({
    id: uuid,
    name: text,
    /** The name of a project. */
    project: optional(text),
    payload: document,
    /** Absent for private ones. */
    visibility: optional(word(VIEW_VISIBILITIES)),
    created_at: instant,
    updated_at: instant,
  }),
  end: record({ counts }),
} as const;
