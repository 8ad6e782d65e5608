import type { LineOf } from "@tidemark/archive";
import { present } from "@tidemark/values";
import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";
import { slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";

/** The limits of a request. */
const TOGETHER = { traces: 500, spans: 2000 };

const utf8 = new TextEncoder();

/** Creates the writer of traces, which may begin with spans of a trace of the previous piece. */
export function createTracesWriter(traces: RestoreClients["traces"]): LineWriter {
  return async (lines, name, ids, ask) => {
    const all = linesOfKinds(lines, "trace", "trace.spans");
    let head: LineOf<"trace"> | undefined;
    const messages = all.flatMap((line) => {
      if (line.line === "trace") {
        head = line;
        return [];
      }
      if (line.spans.length === 0) return [];
      const isOfHead = head?.run_id === line.run_id && head.trace_id === line.trace_id;
      return [
        {
          runId: ids.of("run", line.run_id),
          traceId: line.trace_id,
          updatedUs: isOfHead ? head!.updated_at : 0,
          spans: line.spans.map(messageOf),
        },
      ];
    });
    const slices = slicesOf(messages, TOGETHER.traces, TOGETHER.spans, ({ spans }) => spans.length);
    for (const [i, slice] of slices.entries()) {
      await ask((call) => traces.restoreSpans({ name: `${name}:${i}`, traces: slice }, call));
    }
    return [];
  };
}

const documentOf = (json: string | undefined): Uint8Array => utf8.encode(json ?? "");

function messageOf(span: LineOf<"trace.spans">["spans"][number]) {
  const { sequences } = span;
  return {
    span: {
      spanId: span.span_id,
      parentSpanId: span.parent_span_id ?? "",
      name: span.name,
      kind: SPAN_KINDS.indexOf(span.kind) + 1,
      status: SPAN_STATUSES.indexOf(span.status) + 1,
      startedUs: span.started_at,
      threadId: span.thread_id ?? "",
      rolloutId: span.rollout_id ?? "",
      errorType: span.error_type ?? "",
      attributesJson: documentOf(span.attributes),
      metricsJson: documentOf(span.metrics),
      linksJson: documentOf(span.links),
      inputPreview: span.input_preview ?? "",
      outputPreview: span.output_preview ?? "",
      errorPreview: span.error_preview ?? "",
      previews: span.previews,
      redactionState: REDACTION_STATES.indexOf(span.redaction_state) + 1,
      truncated: span.truncated,
      ...present({ endedUs: span.ended_at, durationMs: span.duration_ms, step: span.step, rank: span.rank }),
    },
    sequence: span.sequence,
    ...present({
      parentSequence: sequences?.parent,
      endedSequence: sequences?.ended,
      durationSequence: sequences?.duration,
      stepSequence: sequences?.step,
      rankSequence: sequences?.rank,
    }),
  };
}
