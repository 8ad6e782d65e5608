import { randomUUID } from "node:crypto";

/** Returns the event that begins the span of this number in the one trace that tests write. `more` replaces fields. */
export function startedSpan(number: number, more?: object): object {
  return {
    event_id: randomUUID(),
    trace_id: "0123456789abcdef0123456789abcdef",
    span_id: number.toString(16).padStart(16, "0"),
    sequence: 1,
    event_kind: "started",
    name: "a span",
    kind: "custom",
    status: "running",
    started_at: "2026-01-02T03:04:05Z",
    ...more,
  };
}
