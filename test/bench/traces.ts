import type { Bench, BenchContext } from "./frame/bench.ts";
import { measureRead, measureShots } from "./frame/measure.ts";
import { shown } from "./frame/report.ts";
import { withSender, type Shot } from "./frame/sender.ts";
import type { BenchStack } from "./frame/stack.ts";
import { largeTrace, SPANS_A_TRACE, traceEvents, bytesOfSpanRow, copyTraces, readStored } from "./traces/events.ts";

const RUNS = 8;
const TRACES_A_REQUEST = 5;
/** With fewer the bytes of a span say little. */
const REQUESTS_MIN = 300;
const LISTED_TRACES = 1_000_000;
const LARGE_SPANS = 100_000;
const LARGE_REQUEST = 500;

const eventsShot = (runId: string, body: string): Shot => ({
  method: "POST",
  path: `/api/runs/${runId}/traces/events`,
  body,
  keyed: true,
});

/** Bodies are printed before they are sent, and only ids are changed while they are, because printing would cost the client more than the server. */
function appendShots(runIds: readonly string[]): (index: number) => Shot {
  const bodies = Array.from({ length: 400 }, (_, i) => {
    const events = Array.from({ length: TRACES_A_REQUEST }, (_t, t) =>
      traceEvents(Date.now() - 3_600_000 + i * 977 + t),
    );
    return JSON.stringify({ events: events.flat() });
  });
  return (index) => {
    // The same spans again would not be new ones.
    const salt = (0x1000_0000 + index).toString(16);
    const body = bodies[index % bodies.length]!.replaceAll(/"trace_id":"[0-9a-f]{8}/g, `"trace_id":"${salt}`);
    return eventsShot(runIds[index % runIds.length]!, body);
  };
}

async function measureWrites({ seconds, report }: BenchContext, bench: BenchStack): Promise<void> {
  const runIds = await bench.newRuns(RUNS);
  const empty = await readStored(bench.owner);
  const load = { concurrency: 8, seconds, warmUp: 2, samplesMin: REQUESTS_MIN };
  const measured = await measureShots(bench, load, appendShots(runIds));
  const spans = TRACES_A_REQUEST * SPANS_A_TRACE;
  report.load(`${TRACES_A_REQUEST} traces of ${SPANS_A_TRACE} spans`, measured);
  report.target({ row: 14, what: "spans/s", value: measured.rate * spans, more: true, wanted: 20_000 });
  const full = await readStored(bench.owner);
  const each = (full.bytes - empty.bytes) / (full.traces * SPANS_A_TRACE);
  report.target({ row: 14, what: "bytes of a span", value: each, wanted: 120, limit: 150 });
  const row = await bytesOfSpanRow(bench.owner, bench.orgId, runIds[0]!);
  const what = "bytes of a row per span, times those of a span";
  report.target({ row: 14, what, value: row / each, more: true, wanted: 3, limit: 2.5 });
}

async function newRun(bench: BenchStack, project: string): Promise<string> {
  return (await bench.api.post("/runs", { project })).json.run.id as string;
}

/** Writes a large trace and many small ones; returns reads of them, with the 95th percentile that is wanted. */
async function prepareReads({ scaled }: BenchContext, bench: BenchStack) {
  const [listedRun, largeRun] = [await newRun(bench, "listed"), await newRun(bench, "large")];
  const traces = scaled(LISTED_TRACES, 2000);
  const large = largeTrace(scaled(LARGE_SPANS, 2000));
  await withSender({ baseUrl: bench.stack.baseUrl, key: bench.key }, 1, async ({ send }) => {
    await send(eventsShot(listedRun, JSON.stringify({ events: traceEvents(Date.now()) })));
    for (let first = 0; first < large.events.length; first += LARGE_REQUEST) {
      const events = large.events.slice(first, first + LARGE_REQUEST);
      await send(eventsShot(largeRun, JSON.stringify({ events })));
    }
  });
  await copyTraces(bench.owner, listedRun, traces);
  const list = "/api/traces?project=listed";
  const detail = `/api/runs/${largeRun}/traces/${large.traceId}`;
  const what = `${shown(traces)} traces`;
  return [
    { name: `first 50 of ${what}`, path: () => list, p95: 10 },
    { name: `1 of 1,000 of ${what}, by status`, path: () => `${list}&status=error` },
    { name: `1 of 20,000 of ${what}, by kind`, path: () => `${list}&kind=checkpoint` },
    { name: `1 of ${what}, by a word`, path: (i: number) => `${list}&q=thread-${1 + ((i * 7919) % traces)}` },
    { name: `a trace of ${shown(large.events.length)} spans`, path: () => detail, p95: 20 },
    { name: "100 children of its root", path: () => `${detail}/spans?parent_span_id=${large.root}`, p95: 15 },
    { name: "children of one of its spans", path: () => `${detail}/spans?parent_span_id=${large.child}`, p95: 15 },
  ];
}

/** Traces: spans in, what they take on the disk, lists over a million of them, and pages of a large one. */
export const traces: Bench = {
  about: "spans in, bytes of a span, lists and details of traces (row 14)",
  async run(context) {
    const { open, seconds, report, wants } = context;
    const bench = await open();
    if (wants("writes")) await measureWrites(context, bench);
    for (const { name, path, p95 } of (await prepareReads(context, bench)).filter((read) => wants(read.name))) {
      const measured = await measureRead(bench, (index) => ({ method: "GET", path: path(index) }), { seconds });
      report.load(name, measured);
      if (p95 !== undefined) report.target({ row: 14, what: `${name}, p95 ms`, value: measured.p95, wanted: p95 });
    }
  },
};
