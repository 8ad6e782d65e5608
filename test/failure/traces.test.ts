import { expect, test } from "@jest/globals";
import { requireServers, rounds, until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startOwnPostgres } from "../stack/server.ts";
import { startStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const WRITERS = 4;
const TRACES = 3;
const SPANS = 60;
const EVENTS = 30;
const KILLS = rounds(6);
/** Requests that are acknowledged between two kills. */
const APART = 12;

type Event = {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly sequence: number;
  readonly name: string;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at?: string;
};
/** The fields that a span shows. */
type Shown = Pick<Event, "name" | "status" | "started_at"> & { readonly ended_at: string | null };

const BEGIN = Date.UTC(2026, 0, 5);
const traceId = (trace: number): string => (trace + 1).toString(16).padStart(32, "0");
const spanId = (span: number): string => span.toString(16).padStart(16, "0");
const statuses = ["running", "ok", "error"];

/** Sequences are unique, so that what a span is does not depend on which request came first. */
function eventOf(trace: number, span: number, sequence: number): Event {
  const parent = Math.floor(span / 2);
  // Whole seconds are written without a fraction.
  const time = (ms: number): string => new Date(BEGIN + ms).toISOString().replace(".000Z", "Z");
  return {
    trace_id: traceId(trace),
    span_id: spanId(span),
    ...(parent === 0 || sequence % 3 === 0 ? {} : { parent_span_id: spanId(parent) }),
    sequence,
    name: `event ${sequence}`,
    status: statuses[sequence % 3]!,
    started_at: time(((sequence * 7919) % 100) * 1000),
    ...(sequence % 2 === 0 ? {} : { ended_at: time(200_000 + (sequence % 1000) * 1000) }),
  };
}

/** Folds the events of a span, as the API specification describes. */
function fold(events: readonly Event[]): Shown {
  const bySequence = events.toSorted((a, b) => a.sequence - b.sequence);
  const { name, status } = bySequence.at(-1)!;
  return {
    name,
    status,
    started_at: events.map(({ started_at }) => started_at).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0]!,
    ended_at: bySequence.findLast(({ ended_at }) => ended_at !== undefined)?.ended_at ?? null,
  };
}

/** Returns all spans of a trace, from its roots down. */
async function readSpans(api: Api, path: string): Promise<Map<string, Shown>> {
  const spans = new Map<string, Shown>();
  const { json } = await api.get(`${path}?span_limit=1000`);
  const waiting = [...json.spans];
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    const { name, status, started_at, ended_at } = span;
    spans.set(span.span_id, { name, status, started_at, ended_at });
    if (span.child_count === 0) continue;
    const children = await api.get(`${path}/spans?parent_span_id=${span.span_id}&limit=500`);
    waiting.push(...children.json.spans);
  }
  return spans;
}

describeWith(servers)("traces", () => {
  test("whose service and database are killed again and again under load keep every event that was acknowledged, once", async () => {
    const postgres = await startOwnPostgres();
    const stack = await startStack("split", {
      databaseUrl: postgres.url,
      settings: { TIDEMARK_TRACES_COMPACT_AFTER_SECONDS: "1" },
    });
    try {
      const { api } = await stack.organization();
      const { id } = (await api.post("/runs", { project: "kept" })).json.run;
      const acknowledged: Event[] = [];
      let requests = 0;
      const send = async (name: string, events: readonly Event[]): Promise<void> => {
        const body = {
          events: events.map((event) => ({ ...event, event_id: eventId(), event_kind: "updated", kind: "tool" })),
        };
        await until(name, async () => {
          const headers = { "idempotency-key": name };
          const answer = await api.post(`/api/runs/${id}/traces/events`, body, { headers }).catch(() => undefined);
          if (answer !== undefined && answer.status !== 200) expect([409, 503]).toContain(answer.status);
          if (answer?.status === 409) expect(answer.json.code).toBe("idempotency_in_progress");
          return answer?.status === 200;
        });
        acknowledged.push(...events);
        requests += 1;
      };
      for (let trace = 0; trace < TRACES; trace += 1) {
        await send(
          `first-${trace}`,
          Array.from({ length: SPANS }, (_, i) => eventOf(trace, i + 1, i + 1)),
        );
      }

      let isOn = true;
      const writing = async (_: unknown, writer: number): Promise<void> => {
        for (let request = 1; isOn; request += 1) {
          const first = SPANS + (request * WRITERS + writer) * EVENTS;
          const events = Array.from({ length: EVENTS }, (_one, i) =>
            eventOf((request + i) % TRACES, 1 + ((first * 31 + i) % SPANS), first + i),
          );
          await send(`w${writer}-${request}`, events);
        }
      };
      const kills = async (): Promise<void> => {
        try {
          for (let kill = 0; kill < KILLS; kill += 1) {
            const before = requests;
            await until(`${APART} requests before kill ${kill}`, async () => requests >= before + APART);
            if (kill % 2 === 0) {
              await stack.children.get("traces")!.end("SIGKILL");
              await stack.restart("traces");
            } else {
              postgres.signal("SIGKILL");
              await postgres.start();
            }
          }
          const before = requests;
          await until("requests after the last kill", async () => requests >= before + APART);
        } finally {
          isOn = false;
        }
      };
      await Promise.all([kills(), ...Array.from({ length: WRITERS }, writing)]);

      const listed = (await api.get(`/api/traces?run_id=${id}`)).json.traces as { trace_id: string }[];
      for (let trace = 0; trace < TRACES; trace += 1) {
        const wanted = new Map<string, Shown>();
        for (let span = 1; span <= SPANS; span += 1) {
          const events = acknowledged.filter((one) => one.trace_id === traceId(trace) && one.span_id === spanId(span));
          wanted.set(spanId(span), fold(events));
        }
        const shown = await readSpans(api, `/api/runs/${id}/traces/${traceId(trace)}`);
        expect(shown).toEqual(wanted);
        const has = (status: string): number => [...wanted.values()].filter((one) => one.status === status).length;
        expect(listed.find(({ trace_id }) => trace_id === traceId(trace))).toMatchObject({
          span_count: SPANS,
          error_count: has("error"),
          running_span_count: has("running"),
          attributes: { root_count: 1, orphan_span_count: 0 },
        });
      }
    } finally {
      await stack.stop();
      await postgres.end();
    }
  });
});

let events = 0;
function eventId(): string {
  events += 1;
  return `00000000-0000-4000-8000-${events.toString(16).padStart(12, "0")}`;
}
