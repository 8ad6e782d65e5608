import { expect, test } from "@jest/globals";
import { valueTape } from "./metric-values.ts";
import { pointTime } from "./point-times.ts";
import { neptuneProfile, widePlace, wideRate, wideShots } from "./wide-load.ts";

test("the profile is 99 requests and 99,000 values a second", () => {
  expect(wideRate(neptuneProfile)).toBe(99);
  expect(wideRate(neptuneProfile) * neptuneProfile.keysPerRequest).toBe(99_000);
});

test("in a round every key of every run gets one value at the same step, and the next round the next step", () => {
  const profile = { runs: 3, keys: 25, keysPerRequest: 10, everySeconds: 1 };
  const seen = new Map<string, number>();
  for (let index = 0; index < 2 * 9; index += 1) {
    const { run, firstKey, keys, step } = widePlace(profile, index);
    expect(step).toBe(index < 9 ? 0 : 1);
    for (let key = firstKey; key < firstKey + keys; key += 1) {
      seen.set(`${run}/${key}`, (seen.get(`${run}/${key}`) ?? 0) + 1);
    }
  }
  expect(seen.size).toBe(3 * 25);
  expect(new Set(seen.values())).toEqual(new Set([2]));
});

test("a request carries its keys in their order", () => {
  const shot = wideShots(valueTape(), 30)({ runId: "r", firstKey: 10, keys: 3, step: 4 });
  const body = JSON.parse(String(shot.body)) as { metrics: Record<string, number>; step: number };
  expect(shot.path).toBe("/runs/r/metrics");
  expect(body).toMatchObject({ step: 4, timestamp: `${pointTime(4)}Z`, preview: false });
  expect(Object.keys(body.metrics)).toEqual([10, 11, 12].map((key) => `model/layer/0000${key}/grad_norm`));
  expect(Object.values(body.metrics).every((value) => value > 0 && value < 2)).toBe(true);
});
