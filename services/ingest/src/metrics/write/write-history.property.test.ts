import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { isMinimizeKey } from "@tidemark/values/metric-direction";

import fc from "fast-check";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";

// After any history of writes, by several processes simultaneously, with repeats and with keys that were used for other requests, what is stored is
// what was answered, and the aggregates are those of the values that reads show.

let ingest: IngestFixture;
let tenant: Tenant;
let writers: IngestFixture["write"][];

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  // Two processes, and one that forgets nearly everything immediately.
  writers = [ingest.write, ingest.writer(), ingest.writer(undefined, { cacheBytes: 4096 })];
});
afterAll(() => ingest.close());

type Write = { writer: number; run: number; points: TestPoint[]; key: number | null };

const anyValue = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(-0, Number.MIN_VALUE, NaN, Infinity, -Infinity),
);
const anyKey = fc.oneof(
  fc.constantFrom("loss", "acc", "ключ"),
  fc.nat(70).map((n) => `k${n}`),
);
const anyPoint: fc.Arbitrary<TestPoint> = fc.tuple(
  fc.nat(5),
  fc.dictionary(anyKey, anyValue, { minKeys: 1, maxKeys: 6 }),
);
const anyWrite: fc.Arbitrary<Write> = fc.record({
  writer: fc.nat(2),
  run: fc.nat(2),
  points: fc.array(anyPoint, { minLength: 1, maxLength: 3 }),
  key: fc.option(fc.nat(5)),
});
/** Rounds of writes at the same time. Some are sent again, in the same round or later, by any process. */
const anyHistory = fc
  .array(fc.array(anyWrite, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 5 })
  .chain((rounds) =>
    fc.array(fc.record({ from: fc.nat(), to: fc.nat(), writer: fc.nat(2) }), { maxLength: 8 }).map((repeats) => {
      const all = rounds.flat().filter(({ key }) => key !== null);
      const history = rounds.map((round) => [...round]);
      if (all.length === 0) return history;
      for (const { from, to, writer } of repeats) {
        history[to % history.length]!.push({ ...all[from % all.length]!, writer });
      }
      return history;
    }),
  );

const aggregatesOf =
  testSql(`SELECT key, count, min, max, mean, variance, latest, best, best_step, first_step, last_step,
          non_finite, non_finite_step
   FROM ingest.metric_aggregates_v1 WHERE org_id = $1 AND run_id = $2 ORDER BY key`);
const runOf = testSql(`SELECT r.version, r.key_count AS keys, r.point_count AS points,
          (SELECT array_agg(l.id::integer ORDER BY l.id) FROM ingest.metric_segments l WHERE l.run_id = r.run_id) AS ids,
          (SELECT array_agg(k.key_id ORDER BY k.key_id) FROM ingest.metric_keys k WHERE k.run_id = r.run_id) AS "keyIds"
   FROM ingest.metric_runs r WHERE r.org_id = $1 AND r.run_id = $2`);

type Sent = { write: Write; body: string; outcome: "stored" | "replayed" | "reused" };

async function send(write: Write, runIds: readonly string[], keyOf: (key: number) => string): Promise<Sent> {
  const { writer, run, points, key } = write;
  const columns = columnsOf(...points);
  const request = { runId: runIds[run]!, columns, ...(key === null ? {} : { idempotencyKey: keyOf(key) }) };
  const body = JSON.stringify([
    run,
    columns.keys,
    [...columns.steps],
    [...columns.values].map((n) => (Object.is(n, -0) ? "-0" : String(n))),
    [...columns.pointIndexes],
  ]);
  try {
    const { inserted, replayed } = await writers[writer]!.appendMetrics(request, callOf(tenant));
    expect(inserted).toBe(columns.values.length);
    return { write, body, outcome: replayed ? "replayed" : "stored" };
  } catch (error) {
    if (isAppError(error) && error.reason === "idempotency_key_reused") return { write, body, outcome: "reused" };
    throw error;
  }
}

/** For each key, exactly one request was stored; equal ones got the same answer, and all others were refused. */
function expectOneOfEachKey(sent: readonly Sent[]): void {
  const keyed = Map.groupBy(sent, ({ write }) => write.key);
  for (const [key, requests] of keyed) {
    if (key === null) {
      expect(requests.map(({ outcome }) => outcome)).toEqual(requests.map(() => "stored"));
      continue;
    }
    const stored = requests.filter(({ outcome }) => outcome === "stored");
    expect(stored).toHaveLength(1);
    for (const { body, outcome } of requests) {
      if (body !== stored[0]!.body) expect(outcome).toBe("reused");
      else expect(["stored", "replayed"]).toContain(outcome);
    }
  }
}

test("is stored as it was answered, and its aggregates are exact", async () => {
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const runIds = await Promise.all([0, 1, 2].map(() => ingest.newRun(tenant)));
      const name = `history-${histories++}`;
      const sent: Sent[] = [];
      for (const round of history) {
        sent.push(...(await Promise.all(round.map((write) => send(write, runIds, (key) => `${name}-${key}`)))));
      }
      expectOneOfEachKey(sent);

      for (const [run, runId] of runIds.entries()) {
        const stored = sent.filter(({ write, outcome }) => write.run === run && outcome === "stored");
        const values = stored.flatMap(({ write }) =>
          write.points.flatMap(([step, metrics]) =>
            Object.entries(metrics).map(([key, value]) => ({ key, step, value })),
          ),
        );
        const { keys: series } = await ingest.read.listMetricPoints({ runId, limit: 5000 }, callOf(tenant));
        const read = series.flatMap(({ key, points }) =>
          Array.from(points!.steps, (step, i) => ({ key, step, value: points!.values[i]! })),
        );
        const order = (all: typeof read) =>
          all.map(({ value, ...one }) => JSON.stringify({ ...one, value: String(value) })).toSorted();
        expect(order(read)).toEqual(order(values));

        const state = await ingest.owner.one<Record<string, unknown>>(runOf, [tenant.orgId, runId]);
        if (stored.length === 0) {
          expect(state?.["points"] ?? 0).toBe(0);
          continue;
        }
        expect(state).toEqual({
          version: stored.length,
          keys: series.length,
          points: values.length,
          ids: stored.map((_, i) => i + 1),
          keyIds: series.map((_, i) => i),
        });
        const aggregates = await ingest.owner.rows<Record<string, number>>(aggregatesOf, [tenant.orgId, runId]);
        expect(aggregates.map((aggregate) => aggregate["key"])).toEqual(series.map(({ key }) => key));
        for (const [i, { key, points }] of series.entries()) {
          const pairs = Array.from(points!.steps, (step, j) => ({ step, value: points!.values[j]! }));
          expectAggregate(aggregates[i]!, key, pairs);
        }
      }
    }),
    { numRuns: 40 },
  );
});

/** By the definitions; reads return points by step and arrival. */
function expectAggregate(
  aggregate: Record<string, number>,
  key: string,
  pairs: readonly { step: number; value: number }[],
): void {
  const finite = pairs.filter(({ value }) => Number.isFinite(value));
  const others = pairs.filter(({ value }) => !Number.isFinite(value));
  const values = finite.map(({ value }) => value);
  const nonFinite = { non_finite: others.length, non_finite_step: others.at(-1)?.step ?? null };
  const range = { first_step: pairs[0]!.step, last_step: pairs.at(-1)!.step };
  if (finite.length === 0) {
    const none = { min: NaN, max: NaN, mean: NaN, variance: null, latest: NaN, best: NaN, best_step: NaN };
    expect(aggregate).toEqual({ key, count: 0, ...none, ...range, ...nonFinite });
    return;
  }
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const best = isMinimizeKey(key) ? min : max;
  const last = finite.at(-1)!;
  // PostgreSQL counts the two zeros as equal, and so does the order of values here.
  const numbers = Object.fromEntries(
    Object.entries(aggregate).map(([name, number]) => [name, number === 0 ? 0 : number]),
  );
  expect(numbers).toEqual({
    key,
    count: finite.length,
    min: min + 0,
    max: max + 0,
    mean: expect.any(Number),
    variance: expect.any(Number),
    latest: last.value + 0,
    best: best + 0,
    best_step: finite.find(({ value }) => value === best)!.step,
    ...range,
    ...nonFinite,
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const largest = Math.max(1, Math.abs(min), Math.abs(max));
  expect(Math.abs(aggregate["mean"]! - mean)).toBeLessThan(1e-12 * largest);
  expect(Math.abs(aggregate["variance"]! - variance)).toBeLessThan(1e-12 * largest ** 2);
}
