import { randomBytes, randomUUID } from "node:crypto";

/** Spans of an ordinary trace. */
export const SPANS_A_TRACE = 20;

const models = ["gpt-4o-mini", "claude-sonnet", "llama-3-70b"];

/** Returns a new id of a span. */
const spanId = (): string => randomBytes(8).toString("hex");

/** Where a span is in its trace. */
type SpanPlace = {
  readonly traceId: string;
  readonly id: string;
  readonly parent?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Among the spans of the trace; 0 is the root. */
  readonly place: number;
};

/** Returns one finished span with ids, a name, times and small attributes, as an agent's step reports it. */
function spanEvent({ traceId, id, parent, at, place }: SpanPlace): object {
  const isModel = place % 3 === 1;
  return {
    trace_id: traceId,
    span_id: id,
    ...(parent === undefined ? {} : { parent_span_id: parent }),
    event_id: randomUUID(),
    sequence: 2,
    event_kind: "finished",
    name: place === 0 ? "rollout" : isModel ? "chat" : `tool.call_${place % 7}`,
    kind: place === 0 ? "rollout" : isModel ? "model" : "tool",
    status: place === 17 && at % 50 === 0 ? "error" : "ok",
    started_at: new Date(at + place * 13).toISOString(),
    ended_at: new Date(at + place * 13 + 7 + (at % 11)).toISOString(),
    step: Math.floor(at / 1000) % 10_000,
    ...(place === 0 ? { thread_id: `thread-${traceId.slice(0, 12)}` } : {}),
    attributes: isModel
      ? { model: models[at % 3], temperature: 0.2, turn: place }
      : { turn: place, cached: place % 2 === 0 },
    ...(isModel
      ? { metrics: { "gen_ai.usage.input_tokens": 200 + (at % 900), "gen_ai.usage.output_tokens": 20 + (at % 90) } }
      : {}),
  };
}

/** Returns the spans of one trace: a root, its children, and some grandchildren. */
export function traceEvents(at: number): object[] {
  const traceId = randomBytes(16).toString("hex");
  const ids = Array.from({ length: SPANS_A_TRACE }, spanId);
  return ids.map((id, place) => {
    const parent = place === 0 ? undefined : ids[Math.floor(place / 4)];
    return spanEvent({ traceId, id, parent, at, place });
  });
}

/** Returns the spans of a large trace, a root with children of 99 spans each, and the ids of the root and of a child. */
export function largeTrace(spans: number) {
  const traceId = randomBytes(16).toString("hex");
  const at = Date.now() - 1_000_000;
  const root = spanId();
  const children = Array.from({ length: Math.ceil(spans / 100) }, spanId);
  const events = [spanEvent({ traceId, id: root, at, place: 0 })];
  for (const [i, child] of children.entries()) {
    events.push(spanEvent({ traceId, id: child, parent: root, at: at + i, place: 1 }));
    for (let leaf = 0; leaf < 99 && events.length < spans; leaf += 1) {
      events.push(spanEvent({ traceId, id: spanId(), parent: child, at: at + i, place: leaf }));
    }
  }
  return { traceId, root, child: children[children.length >> 1]!, events };
}
