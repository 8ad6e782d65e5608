import { expect, test } from "@jest/globals";
import { comparisonRows, interleave, rateRatio, summarize, type Trial } from "./compare-stores.ts";
import type { MetricStore } from "./metric-store.ts";

const result = (requests: number) => ({
  requests,
  sent: requests * 2,
  seconds: 2,
  p50: 1,
  p95: 2,
  p99: 3,
  errors: 0,
  firstError: undefined,
});
const trial = (store: string, requests: number): Trial => ({
  store,
  result: result(requests),
  cpu: { server: requests / 1000, database: 0, client: requests / 1000 },
  stolen: 0,
});
const trials = [trial("ours", 300), trial("rows", 100), trial("ours", 500), trial("rows", 90), trial("ours", 400)];
const comparison = { name: "a case", scalars: 10, trials };

test("each store's median and range of rates, and CPU over all that was sent", () => {
  expect(summarize(comparison)).toMatchObject([
    { store: "ours", rate: { median: 200, min: 150, max: 250 }, cpu: { server: 500, database: 0, client: 500 } },
    { store: "rows", rate: { median: 47.5, min: 45, max: 50 }, cpuPerMillion: 100 },
  ]);
});

test.each([
  ["another store", "rows", 200 / 47.5],
  ["itself", "ours", 1],
  ["one that was not measured", "MLflow", undefined],
])("the ratio to %s", (_what, other, ratio) => {
  expect(rateRatio(summarize(comparison), "ours", other)).toBe(ratio);
});

test("a table line per store, the first without a ratio to itself", () => {
  const [ours, rows] = comparisonRows(comparison).split("\n");
  expect(ours).toContain("| a case | ours | 200 (150 to 250) | 2,000 |");
  expect(ours).toContain("|  | 0 |");
  expect(rows).toContain("| 4.21 x | 0 |");
});

test("stores are measured in turn, and are at rest before the next one", async () => {
  const order: string[] = [];
  const store = (name: string): MetricStore => ({
    name,
    servers: [],
    clients: [],
    takes: () => true,
    prepare: () => Promise.reject(new Error("not asked")),
    settle: async () => void order.push(`${name} settled`),
    close: () => Promise.resolve(),
  });
  const measured = await interleave([store("a"), store("b")], {
    rounds: 2,
    postgresPid: process.pid,
    load: ({ name }) =>
      Promise.resolve(async () => {
        order.push(name);
        return result(1);
      }),
  });
  expect(order.slice(0, 4)).toEqual(["a", "a settled", "b", "b settled"]);
  expect(measured).toHaveLength(4);
});
