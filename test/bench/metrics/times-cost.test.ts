import { expect, test } from "@jest/globals";
import type { Trial } from "./compare-stores.ts";
import { TIMED, timesCost, UNTIMED } from "./times-cost.ts";

const trial = (store: string, server: number, seconds: number): Trial => ({
  store,
  result: { requests: 10, sent: 10, seconds, p50: 1, p95: 1, p99: 1, errors: 0, firstError: undefined },
  cpu: { server, database: 1, client: 9 },
  stolen: 0,
});

test("the cost is the median over pairs, whichever of a pair was first", () => {
  const trials = [
    trial(TIMED, 3, 2),
    trial(UNTIMED, 2, 1),
    trial(UNTIMED, 1, 1),
    trial(TIMED, 1, 1),
    trial(TIMED, 11, 4),
    trial(UNTIMED, 10, 5),
  ];
  expect(timesCost({ name: "a case", scalars: 1, trials })).toEqual({ serverCpu: 1.1, allCpu: 12 / 11, rate: 1 });
});

test("nothing measured is no number", () => {
  expect(timesCost({ name: "a case", scalars: 1, trials: [] }).serverCpu).toBeNaN();
});
