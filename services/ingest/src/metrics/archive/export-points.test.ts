import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { doublesOfBytes, indexesOfBytes } from "@tidemark/archive";
import type { ExportPointsResponse } from "@tidemark/proto/ingest/v1/archive";
import type { Compaction } from "../../compaction/work-loop.ts";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let compaction: Compaction;
let tenant: Tenant;
beforeAll(async () => {
  ingest = await startIngest();
  // Small blocks, so that a few points end up in blocks of all widths, and some of them are joined and cut.
  compaction = ingest.compactor(undefined, { pointsMax: 8, valuesMax: 128, childValuesMin: 16 });
});
afterAll(async () => {
  await compaction.stop();
  await ingest.close();
});
beforeAll(async () => {
  tenant = await ingest.newTenant();
});

type Point = readonly [step: number, value: number, timestampUs: number];

/** The points of each key of each run in the order in which they are exported. */
async function exported(runIds: string[]): Promise<Map<string, Point[]>> {
  const found = new Map<string, Point[]>();
  for await (const message of ingest.archive.exportPoints({ runIds }, callOf(tenant))) {
    const steps = doublesOfBytes(message.steps);
    const created = doublesOfBytes(message.createdUs);
    const times = doublesOfBytes(message.timestampsUs);
    expect(created).toHaveLength(steps.length);
    expect(created.every((us) => us > 1.7e15)).toBe(true);
    for (const [key, { point, value }] of valuesOf(message)) {
      const of = `${message.runId} ${key}`;
      const points = found.get(of) ?? [];
      points.push([steps[point]!, value, times[point] ?? Number.NaN]);
      found.set(of, points);
    }
  }
  return found;
}

function valuesOf(message: ExportPointsResponse): [string, { point: number; value: number }][] {
  const values = doublesOfBytes(message.values);
  const offsets = indexesOfBytes(message.offsets);
  const indexes = indexesOfBytes(message.pointIndexes);
  const points = message.steps.length / 8;
  return message.keys.flatMap((key, k) => {
    const [from, to] = offsets.length === 0 ? [k * points, (k + 1) * points] : [offsets[k]!, offsets[k + 1]!];
    return Array.from({ length: to - from }, (_, i): [string, { point: number; value: number }] => [
      key,
      { point: offsets.length === 0 ? i : indexes[from + i]!, value: values[from + i]! },
    ]);
  });
}

/** Writes points request by request, and returns the expected export. */
async function write(runId: string, requests: readonly (readonly TestPoint[])[]): Promise<Map<string, Point[]>> {
  const wanted = new Map<string, Point[]>();
  for (const points of requests) {
    await ingest.write.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));
    for (const [step, metrics, timestampUs = Number.NaN] of points) {
      for (const [key, value] of Object.entries(metrics)) {
        const of = `${runId} ${key}`;
        wanted.set(of, [...(wanted.get(of) ?? []), [step, value, timestampUs]]);
      }
    }
  }
  return wanted;
}

const T = 1_795_176_000_000_001;

describe("all points are exported in the order of their arrival", () => {
  const shapes: [string, readonly (readonly TestPoint[])[]][] = [
    ["of one key", Array.from({ length: 30 }, (_, i) => [[i % 7, { a: i }]])],
    [
      "with and without times",
      Array.from({ length: 9 }, (_, i) => [[i, { a: i, b: -i }, i % 2 === 0 ? T + i : undefined]]),
    ],
    [
      "of keys that are not at each point",
      Array.from({ length: 25 }, (_, i) => [
        [i, { a: i, [`k${i % 4}`]: i }],
        [i + 0.5, { b: i }],
      ]),
    ],
    [
      "of more keys than a key range has",
      Array.from({ length: 12 }, (_, i) => [
        [i, Object.fromEntries(Array.from({ length: 5 + 40 * i }, (__, key) => [`key ${key}`, key + i / 16]))],
      ]),
    ],
    ["with values at the ends of their range", [[[0, { a: -0, b: 1e308, c: 5e-324, 'é"': -1e308 }]]]],
  ];

  test.each(shapes)("%s", async (_what, requests) => {
    const runId = await ingest.newRun(tenant);
    const wanted = await write(runId, requests);
    expect(await exported([runId])).toEqual(wanted);
    for (let round = 0; round < 3; round++) {
      await compaction.round();
      expect(await exported([runId])).toEqual(wanted);
      for (const [of, points] of await write(runId, requests)) wanted.set(of, [...wanted.get(of)!, ...points]);
      expect(await exported([runId])).toEqual(wanted);
    }
  });

  test("of several runs, while one of them is compacted", async () => {
    const runs = await Promise.all([1, 2, 3].map(() => ingest.newRun(tenant)));
    const wanted = new Map<string, Point[]>();
    for (const [i, runId] of runs.entries()) {
      if (i === 1) continue;
      for (const [of, points] of await write(runId, shapes[2]![1])) wanted.set(of, points);
    }
    const messages = ingest.archive.exportPoints({ runIds: runs }, callOf(tenant));
    const first = await messages.next();
    await compaction.round();
    const rest = await Array.fromAsync(messages);
    const count = [first.value!, ...rest].reduce((sum, { values }) => sum + values.length / 8, 0);
    expect(count).toBe([...wanted.values()].reduce((sum, points) => sum + points.length, 0));
    expect(await exported(runs)).toEqual(wanted);
  });
});

test("runs without points have no messages, and those of others do not exist", async () => {
  const runId = await ingest.newRun(tenant);
  expect(await exported([runId])).toEqual(new Map());
  const stranger = await ingest.newTenant();
  const foreign = await ingest.newRun(stranger);
  for (const runIds of [[foreign], [runId, foreign]]) {
    await expect(exported(runIds)).rejects.toMatchObject({ reason: "not_found" });
  }
  await expect(exported(["x"])).rejects.toMatchObject({ reason: "bad_request", field: "run_ids" });
});
