import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { batchesOf, createBatcher } from "./batcher.ts";
import { middles, numbersOf, seriesOf, splitSeries, type SentSeries } from "./decode.ts";
import { newBehind, stepsWithin, withNew, type Series } from "./series.ts";
import { groupName, groupsOf } from "./read-groups.ts";
import { seriesBody } from "./read-series.ts";

const column = (...values: number[]): Float64Array => Float64Array.from(values);
const sent = (columns: SentSeries["columns"], more: Partial<SentSeries> = {}): SentSeries => ({
  run_id: "r",
  key: "k",
  columns,
  truncated: false,
  sampled: false,
  ...more,
});
const series = (runId: string, step: number[], y = step): Series => ({
  runId,
  key: "k",
  sampled: false,
  truncated: false,
  x: column(...step),
  step: column(...step),
  y: column(...y),
});

describe("series of an answer", () => {
  test("of points have their values, null as NaN", () => {
    const found = seriesOf(sent({ step: [0, 1], value: [0.5, null], time: [1, 2] }), { x: "step" });
    expect([...found.x]).toEqual([0, 1]);
    expect([...found.y]).toEqual([0.5, Number.NaN]);
    expect(found.low).toBeUndefined();
  });

  test("have values that are not finite in their place, and buckets their number", () => {
    const raw = sent({ step: [0, 1, 2, 3], value: [1, "NaN", "Infinity", "-Infinity"], time: [0, 0, 0, 0] });
    expect([...seriesOf(raw, { x: "step" }).y]).toEqual([1, Number.NaN, Infinity, -Infinity]);
    const columns = { step: [0, 10, 20], mean: [1, null, 3], min: [1, null, 3], max: [1, null, 3], count: [9, 0, 1] };
    const buckets = seriesOf(sent({ ...columns, non_finite: [1, 10, 0] }, { sampled: true }), { x: "step" });
    // A bucket of one point lies where that is, one of ten in the middle of them.
    expect([...buckets.x]).toEqual([4.5, 14.5, 20]);
    expect([...buckets.y]).toEqual([1, Number.NaN, 3]);
    expect([...buckets.nonFinite!]).toEqual([1, 10, 0]);
    const [grown] = withNew([buckets], [series("r", [30, 40], [5, Number.NaN])]);
    expect([...grown!.count!]).toEqual([9, 0, 1, 1, 0]);
    expect([...grown!.nonFinite!]).toEqual([1, 10, 0, 0, 1]);
    expect(withNew([series("r", [1])], [series("r", [2], [Infinity])])[0]).not.toHaveProperty("nonFinite");
  });

  test("may have integers that were read with every digit", () => {
    expect([...numbersOf([1, null, 10n ** 20n])]).toEqual([1, Number.NaN, 1e20]);
  });

  test("of buckets lie in the middle of the steps that they cover", () => {
    const columns = {
      step: [0, 10, 20, 40],
      min: [0, 0, 0, 0],
      max: [2, 2, 2, 2],
      mean: [1, 1, 1, 1],
      count: [10, 10, 10, 10],
      first: [0, 0, 0, 0],
      last: [1, 1, 1, 1],
    };
    const found = seriesOf(sent(columns, { sampled: true }), { x: "step" });
    expect([...found.x]).toEqual([4.5, 14.5, 24.5, 44.5]);
    expect([...found.high!]).toEqual([2, 2, 2, 2]);
  });

  test("on another axis lie in the middle of their part of it, points of the edges where they are", () => {
    expect([...middles(column(0.5, 1, 2, 3, 9), column(1, 4, 4, 4, 1), false)]).toEqual([0.5, 1.5, 2.5, 3.5, 9]);
    const columns = { step: [5, 6], x: [100, 200], value: [1, 2], time: [0, 0] };
    expect([...seriesOf(sent(columns), { x: "time" }).x]).toEqual([100, 200]);
  });

  test("are found in a text that arrives in any pieces", () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('"},{"run_id":"', ',{"run_id":', '"series":[', "{", "\\"));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(key, fc.array(fc.integer(), { maxLength: 5 })), { maxLength: 6 }),
        fc.integer({ min: 1, max: 40 }),
        (all, size) => {
          const expected = all.map(([name, step], i) => sent({ step }, { run_id: `r${i}`, key: name }));
          const text = JSON.stringify({ format: "columns", series: expected, truncated: false, run_count: 1 });
          const split = splitSeries();
          const found: SentSeries[] = [];
          for (let at = 0; at < text.length; at += size) found.push(...split.push(text.slice(at, at + size)));
          found.push(...split.end());
          expect(found).toEqual(expected);
        },
      ),
    );
  });

  test("that break off are an error", () => {
    const split = splitSeries();
    split.push('{"format":"columns","series":[{"run_id":"a","key"');
    expect(() => split.end()).toThrow(SyntaxError);
    expect(() => splitSeries().end()).toThrow(SyntaxError);
  });
});

describe("requests", () => {
  const query = {
    key: "a",
    runIds: ["1", "2"],
    x: "step",
    smoothing: undefined,
    steps: undefined,
    buckets: 500,
  } as const;

  test("have exactly the requested members", () => {
    expect(seriesBody(query, ["a", "b"])).toEqual({
      format: "columns",
      keys: ["a", "b"],
      run_ids: ["1", "2"],
      buckets: 500,
      limit: 5000,
    });
    const more = seriesBody({ ...query, x: "time", smoothing: { kind: "ema", parameter: 0.5 }, steps: [-1, 9] }, ["a"]);
    expect(more).toMatchObject({
      x: "time",
      smoothing: { kind: "ema", parameter: 0.5 },
      start_step: 0,
      end_step: 9,
      edges: true,
    });
    expect(seriesBody({ ...query, afterStep: 7 }, ["a"])).toMatchObject({ after_step: 7 });
    expect(seriesBody({ ...query, lineage: true }, ["a"])).toMatchObject({ lineage: true });
  });

  test("go together when only their key differs, as many as fit", () => {
    const asks = ["a", "b", "c", "a"].map((key) => ({ query: { ...query, key } }));
    const other = { query: { ...query, buckets: 600 } };
    const found = batchesOf([...asks, other], () => 2).map((batch) =>
      batch.map(({ query: { key, buckets } }) => `${key}${buckets}`),
    );
    expect(found).toEqual([["a500", "a500", "b500"], ["c500"], ["a600"]]);
  });

  test("that are no longer awaited are aborted, others are answered", async () => {
    const signals: AbortSignal[] = [];
    const release = Promise.withResolvers<void>();
    const batcher = createBatcher<{ readonly key: string }, string>({
      keysPerRequest: () => 1,
      read: async (_query, [key], signal) => {
        signals.push(signal);
        await release.promise;
        return new Map([[key!, `${key} read`]]);
      },
      empty: "none",
      sizeOf: () => 1,
    });
    const [left, stays] = [new AbortController(), new AbortController()];
    const lost = batcher.load({ key: "a" }, left.signal).catch((error: Error) => error.name);
    const kept = batcher.load({ key: "b" }, stays.signal);
    while (signals.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    left.abort();
    release.resolve();
    expect([await lost, await kept]).toEqual(["AbortError", "b read"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test("are remembered up to a bound, what was used last the longest", () => {
    const batcher = createBatcher<{ readonly key: string }, number>({
      keysPerRequest: () => 1,
      read: () => Promise.resolve(new Map()),
      empty: 0,
      sizeOf: (size) => size,
    });
    const part = 20 * 1024 * 1024;
    batcher.remember({ key: "a" }, part);
    batcher.remember({ key: "b" }, part);
    expect(batcher.remembered({ key: "a" })).toBe(part);
    batcher.remember({ key: "c" }, part);
    expect(["a", "b", "c"].map((key) => batcher.remembered({ key }))).toEqual([part, undefined, part]);
  });
});

describe("new points of running runs", () => {
  test("is behind the least of their last steps", () => {
    const known = [series("a", [1, 2, 9]), series("b", [1, 5])];
    expect(newBehind(known, ["a", "b"])).toBe(5);
    expect(newBehind(known, ["a"])).toBe(9);
    expect(newBehind(known, ["a", "new"])).toBeUndefined();
    expect(newBehind(known, [])).toBeUndefined();
  });

  test("is put behind what is known, once", () => {
    const known = [series("a", [1, 2, 9]), series("b", [1, 5])];
    const [a, b] = withNew(known, [series("a", [6, 9, 10]), series("b", [6])]);
    expect([...a!.step]).toEqual([1, 2, 9, 10]);
    expect([...b!.y]).toEqual([1, 5, 6]);
    expect(withNew(known, [])).toEqual(known);
  });

  test("follows buckets as buckets of one point", () => {
    const bucketed: Series = {
      ...series("a", [0, 10]),
      sampled: true,
      low: column(0, 0),
      high: column(9, 9),
      first: column(1, 1),
      last: column(2, 2),
      count: column(10, 10),
    };
    const [a] = withNew([bucketed], [series("a", [20], [7])]);
    expect([...a!.high!]).toEqual([9, 9, 7]);
    expect([...a!.count!]).toEqual([10, 10, 1]);
  });
});

test("a zoomed range of another axis is looked up in steps, with the adjacent points", () => {
  const timed: Series = { ...series("a", [1, 2, 3, 4, 5]), x: column(10, 20, 30, 40, 50) };
  expect(stepsWithin([25, 35], "time", [timed])).toEqual([2, 4]);
  expect(stepsWithin([25, 35], "time", [])).toBeUndefined();
  expect(stepsWithin([-5, 8], "step", [])).toEqual([0, 8]);
});

test("groups are named by what their runs share", () => {
  expect(groupName({})).toBe("All runs");
  expect(groupName({ "config.seed": 2n ** 53n + 1n })).toBe("seed=9007199254740993");
  expect(
    groupName({ "config.lr": 0.1, tags: ["a", "b"], "config.opt": "adam", "config.x": null, "config.on": true }),
  ).toBe("lr=0.1, tags=a+b, opt=adam, x: none, on=true");
  const columns = { step: [0], mean: [1], std: [0], min: [1], max: [1], count: [2] };
  const found = groupsOf(
    {
      bucket_width: 1,
      groups: [
        {
          by: {},
          run_count: 2,
          series: [
            { key: "a", columns },
            { key: "b", columns: { step: [] } },
          ],
        },
      ],
    },
    ["a", "b"],
  );
  expect(found.get("a")).toMatchObject([{ name: "All runs", runCount: 2 }]);
  expect(found.get("b")).toEqual([]);
});

describe("buckets of groups", () => {
  const placesOf = (step: readonly number[], width: number) => {
    const columns = { step, mean: step, std: step, min: step, max: step, count: step };
    const answer = { bucket_width: width, groups: [{ by: {}, run_count: 1, series: [{ key: "a", columns }] }] };
    return [...groupsOf(answer, ["a"]).get("a")![0]!.x];
  };

  test("lie in the middle of the steps that they cover, however far apart they are", () => {
    expect(placesOf([0, 40, 1960], 40)).toEqual([19.5, 59.5, 1979.5]);
    expect(placesOf([0.5, 1.75], 0.25)).toEqual([0.625, 1.875]);
  });

  test("of another axis lie in the middle of what they cover of it", () => {
    const columns = { step: [3, 9], x: [10, 30], mean: [1, 2], std: [], min: [], max: [], count: [] };
    const answer = { bucket_width: 10, groups: [{ by: {}, run_count: 1, series: [{ key: "a", columns }] }] };
    expect(groupsOf(answer, ["a"]).get("a")).toMatchObject([{ step: column(3, 9), x: column(15, 35) }]);
  });

  test("of one step lie there", () => {
    expect(placesOf([0, 50, 100, 2000], 1)).toEqual([0, 50, 100, 2000]);
    expect(placesOf([3, 7], 0.25)).toEqual([3, 7]);
  });
});
