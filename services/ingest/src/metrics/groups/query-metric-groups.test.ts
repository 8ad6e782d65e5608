import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { underDeadline } from "@tidemark/work";
import { QueryMetricGroupsRequestSchema, SeriesAxis, SmoothingKind } from "@tidemark/proto/ingest/v1/ingest";
import {
  GroupRunsResponseSchema,
  ListRunOriginsResponseSchema,
  type GroupRunsResponse,
} from "@tidemark/proto/runs/v1/runs";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";
import { createSeriesThreads } from "../columns/series-threads.ts";
import { queryMetricGroupsHandler } from "./query-metric-groups.ts";

let ingest: IngestFixture;
let tenant: Tenant;
/** The answer of the runs service. */
let grouped: GroupRunsResponse;
/** The request that it got. */
let asked: unknown;
/** When runs started, in microseconds. */
let origins: ReadonlyMap<string, number> = new Map();

beforeAll(async () => {
  const groupRuns = (request: unknown) => {
    asked = request;
    return Promise.resolve(grouped);
  };
  const listRunOrigins = ({ runIds = [] }: { runIds?: string[] }) =>
    Promise.resolve(
      create(ListRunOriginsResponseSchema, {
        chains: runIds.map((runId) => ({ runs: [{ runId, startedUs: origins.get(runId)! }] })),
      }),
    );
  ingest = await startIngest({ runsOfCharts: { groupRuns, listRunOrigins } });
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

async function runOf(...points: readonly TestPoint[]): Promise<string> {
  const runId = await ingest.newRun(tenant);
  for (let from = 0; from < points.length; from += 500) {
    const columns = columnsOf(...points.slice(from, from + 500));
    await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
  }
  return runId;
}

function answerGroups(...groups: { runIds: string[]; latest?: number[]; best?: number[] }[]): void {
  grouped = create(GroupRunsResponseSchema, {
    columns: ["config.lr"],
    groups: groups.map((group, i) => ({ valuesJson: [String(i)], latest: [NaN], best: [NaN], ...group })),
  });
}

const base = { keys: ["a"], stats: ["mean", "std", "min", "max", "count"], buckets: 100 };
const ask = (more: object = {}) => ingest.read.queryMetricGroups({ ...base, filter: {}, ...more }, callOf(tenant));
/** The columns of each series: steps first. */
const shown = async (more: object = {}) => {
  const { groups } = await ask(more);
  return groups.map(({ series }) =>
    series.map(({ step, columns }) => [step, ...columns.map(({ numbers }) => numbers)]),
  );
};

describe("groups of metrics", () => {
  test("have the statistics of the runs with points in a bucket, at whole steps as they are", async () => {
    const first = await runOf([0, { a: 1 }], [1, { a: 2 }], [4, { a: 3 }]);
    const second = await runOf([0, { a: 3 }], [4, { a: 9 }]);
    const third = await runOf([0, { a: 8 }], [1, { b: 1 }]);
    answerGroups(
      { runIds: [first, second], latest: [3, 9], best: [3, NaN] },
      { runIds: [third], latest: [8], best: [8] },
    );
    const answer = await ask();
    const numbers = (...columns: number[][]) => columns.map((column) => ({ numbers: column }));
    expect(answer).toMatchObject({
      columns: ["config.lr"],
      runCount: 3,
      effectiveBuckets: 100,
      bucketWidth: 0.05,
      totalPointCap: 120_000,
      groups: [
        {
          valuesJson: ["0"],
          runCount: 2,
          series: [
            {
              key: "a",
              step: [0, 1, 4],
              columns: numbers([2, 2, 6], [1, 0, 3], [1, 2, 3], [3, 2, 9], [2, 1, 2]),
              latest: [6, 3, 3, 9, 2],
              best: [3, 0, 3, 3, 1],
            },
          ],
        },
        {
          valuesJson: ["1"],
          runCount: 1,
          series: [{ step: [0], columns: numbers([8], [0], [8], [8], [1]), latest: [8, 0, 8, 8, 1] }],
        },
      ],
    });
    expect(asked).toMatchObject({ filter: {}, keys: ["a"] });
  });

  test("leave out values that are not finite, and runs that have no others in a bucket", async () => {
    const first = await runOf([0, { a: 1 }], [1, { a: NaN }], [2, { a: Infinity }]);
    const second = await runOf([0, { a: 3 }], [1, { a: 5 }]);
    answerGroups({ runIds: [first, second] }, { runIds: [await runOf([1, { a: NaN }])] });
    expect(await shown()).toEqual([
      [
        [
          [0, 1],
          [2, 5],
          [1, 0],
          [1, 5],
          [3, 5],
          [2, 1],
        ],
      ],
      [[[], [], [], [], [], []]],
    ]);
  });

  test("share a grid, over the range of all series or the bounds, from points and from blocks", async () => {
    const points = Array.from({ length: 1000 }, (_, i): TestPoint => [i, { a: i, b: 1 }]);
    const [long, short] = [await runOf(...points), await runOf([250, { a: 1001 }], [251, { a: 1003 }])];
    answerGroups({ runIds: [long, short] });
    const mean = { stats: ["mean", "count", "p50"], buckets: 4 };
    const whole = [
      [0, 250, 500, 750],
      [124.5, (374.5 + 1002) / 2, 624.5, 874.5],
      [1, 2, 1, 1],
      [124.5, (374.5 + 1002) / 2, 624.5, 874.5],
    ];
    const bounded = [
      [200, 250],
      [(200 + 249) / 2, ((250 + 299) / 2 + 1002) / 2],
      [1, 2],
    ];
    for (let round = 0; round < 2; round += 1) {
      expect(await shown(mean)).toEqual([[whole]]);
      const within = { startStep: 200, endStep: 299, buckets: 2, stats: ["mean", "count"] };
      expect(await shown({ ...mean, ...within })).toEqual([[bounded]]);
      await ingest.compactor().round();
    }
  });

  test("between whole steps keep steps that are not whole", async () => {
    answerGroups({ runIds: [await runOf([0, { a: 1 }], [0.5, { a: 2 }], [2, { a: 3 }])] });
    expect(await shown({ buckets: 7, stats: ["mean"] })).toEqual([
      [
        [
          [0, 0.5, 2],
          [1, 2, 3],
        ],
      ],
    ]);
  });

  test("by another metric share a grid over its range, and count each run once in a bucket", async () => {
    const first = await runOf([0, { a: 1, epoch: 0 }], [1, { a: 3, epoch: 0 }], [2, { a: 5, epoch: 2 }], [3, { a: 9 }]);
    const second = await runOf([7, { a: 10, epoch: 0 }], [9, { a: 20, epoch: 3 }]);
    answerGroups({ runIds: [first, second] });
    const axis = { axis: SeriesAxis.METRIC, axisKey: "epoch", stats: ["mean", "std", "count"] };
    for (let round = 0; round < 2; round += 1) {
      const { bucketWidth, groups } = await ask(axis);
      expect(bucketWidth).toBeCloseTo(4 / 100, 12);
      const [{ x, step, columns }] = groups[0]!.series as [(typeof groups)[0]["series"][0]];
      expect(x).toEqual([0, 2, 3]);
      expect(step).toEqual([0, 2, 9]);
      // Epoch 0: the first run has 1 and 3, so 2; the second has 10.
      expect(columns.map(({ numbers }) => numbers)).toEqual([
        [6, 5, 20],
        [4, 0, 0],
        [2, 1, 1],
      ]);
      await ingest.compactor().round();
    }
  });

  test("by relative time begin when each of the runs started", async () => {
    const started = Date.UTC(2026, 0, 1) * 1000;
    const times = [0, 1, 4].map((second) => started + second * 1e6);
    const first = await runOf(...times.map((at, step): TestPoint => [step, { a: step }, at]));
    const second = await runOf(...times.map((at, step): TestPoint => [10 * step, { a: step + 2 }, at + 5e6]));
    answerGroups({ runIds: [first, second] });
    origins = new Map([
      [first, started],
      [second, started + 5e6],
    ]);
    const { groups } = await ask({ axis: SeriesAxis.RELATIVE, stats: ["mean", "count"] });
    const [{ x, columns }] = groups[0]!.series as [(typeof groups)[0]["series"][0]];
    expect(x).toEqual([0, 1, 4]);
    expect(columns.map(({ numbers }) => numbers)).toEqual([
      [1, 2, 3],
      [2, 2, 2],
    ]);
  });

  test("smooth each run over all of its points, also those outside the bounds", async () => {
    const first = await runOf([0, { a: 0 }], [1, { a: 3 }], [2, { a: 6 }], [3, { a: 0 }]);
    const second = await runOf([1, { a: 10 }], [2, { a: 20 }]);
    answerGroups({ runIds: [first, second] });
    const smoothing = { kind: SmoothingKind.MEAN, parameter: 2 };
    for (let round = 0; round < 2; round += 1) {
      // Running means over a step to both sides: 3 and 3 at the steps 1 and 2, and 15 and 15.
      expect(await shown({ smoothing, startStep: 1, endStep: 2, stats: ["mean", "min", "max"] })).toEqual([
        [
          [
            [1, 2],
            [9, 9],
            [3, 3],
            [15, 15],
          ],
        ],
      ]);
      expect(await shown({ smoothing, startStep: 9, stats: ["mean"] })).toEqual([[[[], []]]]);
      await ingest.compactor().round();
    }
  });

  test("of keys that no run has are empty", async () => {
    answerGroups({ runIds: [await runOf([0, { a: 1 }])], latest: [1, NaN], best: [1, NaN] });
    const { groups } = await ask({ keys: ["a", "none"], stats: ["mean", "count"] });
    expect(groups[0]!.series[1]).toMatchObject({ step: [], columns: [{}, {}], latest: [NaN, 0], best: [NaN, 0] });
    answerGroups();
    expect(await ask()).toMatchObject({ groups: [], runCount: 0 });
  });

  test("end with their request", async () => {
    answerGroups({ runIds: [await runOf([0, { a: 1 }])] });
    const left = new AbortController();
    const runsOfCharts = {
      listRunOrigins: () => Promise.reject(new Error("unexpected call of listRunOrigins")),
      groupRuns: () => {
        left.abort();
        return Promise.resolve(grouped);
      },
    };
    const seriesThreads = createSeriesThreads(1);
    const handle = queryMetricGroupsHandler({ db: ingest.db, runsOfCharts, seriesThreads });
    const request = create(QueryMetricGroupsRequestSchema, base);
    const reading = underDeadline(Date.now() + 10_000, () => handle(request, callOf(tenant)), { left: left.signal });
    await expect(reading).rejects.toMatchObject({ reason: "deadline_exceeded" });
    await seriesThreads.close();
  });
});

test.each([
  ["a key twice", { keys: ["a", "a"] }, "keys"],
  ["an unknown statistic", { stats: ["median"] }, "stats"],
])("%s is refused", async (_what, more, field) => {
  await expect(ask(more)).rejects.toMatchObject({ reason: "bad_request", field });
});
