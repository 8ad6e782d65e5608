import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { SpanKind, SpanStatus } from "@tidemark/proto/traces/v1/traces";
import fc from "fast-check";
import { naiveSpans, naiveSummary, type ModelEvent } from "./naive-traces.fixture.ts";
import {
  callOf,
  eventOf,
  json,
  newTraceId,
  NOON_US,
  spanId,
  startTraces,
  text,
  type TracesClient,
  type TracesFixture,
  type Tenant,
} from "./traces.fixture.ts";

let traces: TracesFixture;
let tenant: Tenant;

beforeAll(async () => {
  traces = await startTraces();
  tenant = await traces.newTenant();
});
afterAll(() => traces.close());

const SPANS = 8;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

const anyEvent = fc.record({
  span: fc.nat(SPANS - 1),
  // Parents may be missing, and may form cycles over several requests.
  parent: fc.option(fc.nat(SPANS + 1), { nil: undefined }),
  sequence: fc.nat(4),
  name: fc.constantFrom("a", "b"),
  kind: fc.constantFrom(SpanKind.MODEL, SpanKind.TOOL, SpanKind.CUSTOM),
  status: fc.constantFrom(
    SpanStatus.OK,
    SpanStatus.OK,
    SpanStatus.RUNNING,
    SpanStatus.ERROR,
    SpanStatus.CANCELLED,
    SpanStatus.INTERRUPTED,
  ),
  start: fc.nat(20),
  // Up to a second before the start: clocks of two machines differ.
  length: maybe(fc.integer({ min: -1_000_000, max: 3_000_000 })),
  durationMs: maybe(fc.constantFrom(0, 0.25, 1e9)),
  step: maybe(fc.integer({ min: -3, max: 3 })),
  rank: maybe(fc.nat(3)),
  thread: fc.constantFrom("", "t1", "t2"),
  tokens: maybe(fc.integer({ min: -5, max: 100 })),
  cost: maybe(fc.constantFrom(0.1, 0.2, 0.000_001)),
  reward: maybe(fc.integer({ min: -2, max: 2 })),
  truncated: fc.constantFrom(false, false, false, true),
  mark: fc.nat(1e6),
});
type AnyEvent = typeof anyEvent extends fc.Arbitrary<infer T> ? T : never;

function eventFrom(traceId: string, any: AnyEvent): ModelEvent {
  const { span, parent, length, tokens, cost, reward } = any;
  const startedUs = NOON_US + any.start * 1_000_000;
  const metrics = {
    ...(tokens === undefined ? {} : { "gen_ai.usage.input_tokens": tokens }),
    ...(cost === undefined ? {} : { cost_usd: cost }),
    ...(reward === undefined ? {} : { "reward.total": reward }),
  };
  return eventOf({
    traceId,
    spanId: spanId(span),
    parentSpanId: parent === undefined || parent === span ? "" : spanId(parent),
    sequence: any.sequence,
    name: any.name,
    kind: any.kind,
    status: any.status,
    startedUs,
    endedUs: length === undefined ? undefined : startedUs + length,
    durationMs: any.durationMs,
    step: any.step,
    rank: any.rank,
    threadId: any.thread,
    truncated: any.truncated,
    attributesJson: json({ mark: any.mark }),
    metricsJson: json(metrics),
  }) as ModelEvent;
}

/** Drops events that a request may not contain: one sequence of a span twice, two parents of a span, a cycle. */
function allowed(events: readonly ModelEvent[]): ModelEvent[] {
  const kept = new Map<string, ModelEvent>();
  const parents = new Map<string, string>();
  for (const event of events) {
    const key = `${event.spanId}/${event.sequence}`;
    const parent = event.parentSpanId ?? "";
    const before = parents.get(event.spanId);
    if (kept.has(key) || (parent !== "" && before !== undefined && before !== parent)) continue;
    const walk = [event.spanId];
    for (let at = parent; at !== "" && !walk.includes(at); at = parents.get(at) ?? "") walk.push(at);
    const closes = parent !== "" && walk.some((at) => at !== event.spanId && parents.get(at) === event.spanId);
    if (closes) continue;
    if (parent !== "") parents.set(event.spanId, parent);
    kept.set(key, event);
  }
  return [...kept.values()];
}

type Step =
  | { readonly kind: "append"; readonly events: AnyEvent[]; readonly process: number; readonly repeats: number }
  | { readonly kind: "compact" }
  | { readonly kind: "kill"; readonly process: number }
  | { readonly kind: "read"; readonly process: number };

const PROCESSES = 3;
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      events: fc.array(anyEvent, { minLength: 1, maxLength: 8 }),
      process: fc.nat(PROCESSES - 1),
      repeats: fc.constantFrom(0, 0, 1, 2),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "compact" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), process: fc.nat(PROCESSES - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), process: fc.nat(PROCESSES - 1) }) },
);

/** Returns the members of a message that a model has too; absent ones are undefined in both. */
function membersOf(message: object, model: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(model).map((name) => [name, (message as Record<string, unknown>)[name]]));
}

/** Reads a whole trace as a client does: the roots, then the children of every span and of every missing parent. */
async function readAll(client: TracesClient, traceId: string) {
  const call = callOf(tenant);
  const { runId } = tenant;
  const { trace } = await client.getTrace({ runId, traceId, spanLimit: 1000 }, call);
  const spans = new Map<string, Awaited<ReturnType<TracesClient["listSpans"]>>["spans"][number]>();
  for (const parentSpanId of ["", ...Array.from({ length: SPANS + 2 }, (_, i) => spanId(i))]) {
    for (let cursor = ""; ;) {
      const page = await client.listSpans({ runId, traceId, parentSpanId, limit: 3, cursor }, call);
      for (const span of page.spans) spans.set(span.spanId, span);
      cursor = page.nextCursor;
      if (cursor === "") break;
    }
  }
  return { trace: trace!, spans };
}

async function expectModel(client: TracesClient, traceId: string, events: readonly ModelEvent[]): Promise<void> {
  const model = naiveSpans(events);
  const { trace, spans } = await readAll(client, traceId);
  const found = [...spans.values()].toSorted((a, b) => a.startedUs - b.startedUs || (a.spanId < b.spanId ? -1 : 1));
  const expected = model.map(({ attributes, redaction, ...span }) => ({
    ...span,
    metrics: undefined,
    attributesJson: new Uint8Array(Buffer.from(attributes)),
    redactionState: redaction,
    childCount: model.filter(({ parentSpanId }) => parentSpanId === span.spanId).length,
  }));
  expect(found.map((span, i) => membersOf(span, expected[i] ?? {}))).toEqual(expected);
  const { rewards, ...summary } = naiveSummary(model);
  expect(membersOf(trace, summary)).toEqual(summary);
  expect(Object.fromEntries(trace.rewardKeys.map((key, i) => [key, trace.rewardValues[i]]))).toEqual(rewards);
  const listed = await client.listTraces({ runId: tenant.runId, limit: 200 }, callOf(tenant));
  // `quiet` changes the row alone.
  expect(listed.traces.find((row) => row.traceId === traceId)).toEqual({ ...trace, updatedUs: expect.any(Number) });
}

test("spans are what a naive fold makes of the events, over three processes that die, with repeats and compaction between", async () => {
  const compactor = traces.compactor();
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const traceId = newTraceId();
      // A small memory, so that some traces do not fit.
      const processes = Array.from({ length: PROCESSES }, (_, i) => traces.newProcess(i === 0 ? 1 : undefined));
      const events: ModelEvent[] = [];
      for (const [i, step] of steps.entries()) {
        if (step.kind === "append") {
          const sent = allowed(step.events.map((any) => eventFrom(traceId, any)));
          const request = { runId: tenant.runId, idempotencyKey: `${traceId}-${i}`, events: sent };
          for (let time = 0; time <= step.repeats; time++) {
            const client = processes[(step.process + time) % PROCESSES]!;
            const answer = await client.appendTraceEvents(request, callOf(tenant));
            expect(answer).toMatchObject({ inserted: sent.length, traceIds: [traceId], replayed: time > 0 });
          }
          events.push(...sent);
        } else if (step.kind === "compact") {
          await traces.quiet(tenant);
          await compactor.round();
        } else if (step.kind === "kill") processes[step.process] = traces.newProcess();
        else if (events.length > 0) await expectModel(processes[step.process]!, traceId, events);
      }
      if (events.length === 0) return;
      for (const client of [...processes, traces.newProcess()]) await expectModel(client, traceId, events);
    }),
    { numRuns: 60 },
  );
});

test("events with different sequences make the same spans in any order of delivery, also at the same time from several processes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(anyEvent, {
        minLength: 2,
        maxLength: 14,
        selector: ({ span, sequence }) => `${span}/${sequence}`,
      }),
      fc.infiniteStream(fc.nat(1000)),
      async (anyEvents, order) => {
        const traceId = newTraceId();
        const events = anyEvents.map((any) => eventFrom(traceId, any));
        const shuffled = events.map((event) => ({ event, at: order.next().value! })).toSorted((a, b) => a.at - b.at);
        const processes = Array.from({ length: PROCESSES }, () => traces.newProcess());
        await Promise.all(
          shuffled.map(({ event }, i) =>
            processes[i % PROCESSES]!.appendTraceEvents(
              { runId: tenant.runId, idempotencyKey: `${traceId}-${i}`, events: [event] },
              callOf(tenant),
            ),
          ),
        );
        for (const client of processes) await expectModel(client, traceId, events);
      },
    ),
    { numRuns: 25 },
  );
});

test("a document keeps the digits that were sent", async () => {
  const traceId = newTraceId();
  const attributesJson = new TextEncoder().encode('{"seed":9007199254740993,"x":1.0}');
  await traces.client.appendTraceEvents(
    { runId: tenant.runId, idempotencyKey: traceId, events: [eventOf({ traceId, attributesJson })] },
    callOf(tenant),
  );
  const { spans } = await readAll(traces.client, traceId);
  expect(text(spans.get(spanId(0))!.attributesJson)).toBe('{"seed":9007199254740993,"x":1.0}');
});
