import { describe, expect, test } from "@jest/globals";
import type { RankEntries } from "./rank-entries.rules.ts";
import { summarizeRanks, type RankCells } from "./rank-summary.rules.ts";

type Entry = readonly [step: number, rank: number, value: number, worldSize?: number, weight?: number];

function entriesOf(entries: readonly Entry[]): RankEntries {
  return {
    steps: Float64Array.from(entries, ([step]) => step),
    ranks: Uint16Array.from(entries, ([, rank]) => rank),
    values: Float64Array.from(entries, ([, , value]) => value),
    worldSizes: Uint16Array.from(entries, ([, , , worldSize = 4]) => worldSize),
    weights: Float64Array.from(entries, ([, , , , weight = 1]) => weight),
  };
}
const summarize = (...entries: Entry[]) => summarizeRanks(entriesOf(entries));
const grid = (
  steps: number,
  ranks: number,
  valueAt: (step: number, rank: number) => number = (step, rank) => step * rank,
) =>
  summarizeRanks(
    entriesOf(
      Array.from({ length: steps * ranks }, (_, i): Entry => {
        const step = Math.floor(i / ranks);
        return [step, i % ranks, valueAt(step, i % ranks), ranks];
      }),
    ),
  );
const positions = ({ steps, ranks }: RankCells) => steps.map((step, i) => [step, ranks[i]]);

describe("a summary", () => {
  test("of nothing is empty", () => {
    const empty = { steps: [], ranks: [], values: [], deltasFromMean: [], zScores: [] };
    expect(summarize()).toEqual({
      steps: [],
      heatmap: empty,
      outliers: empty,
      heatmapTruncated: false,
      outliersTruncated: false,
    });
  });

  test("has a row per step, and a cell per rank with its distance from the mean", () => {
    const { steps, heatmap } = summarize([4, 0, 1], [4, 2, 3, 4, 3], [7, 1, 5]);
    expect(steps).toMatchObject([
      { step: 4, rankCount: 2, mean: 2, weightedMean: 2.5, stddev: 1, missingRanks: [1, 3] },
      { step: 7, rankCount: 1, mean: 5, missingRanks: [0, 2, 3] },
    ]);
    expect(heatmap).toEqual({
      steps: [4, 4, 7],
      ranks: [0, 2, 1],
      values: [1, 3, 5],
      deltasFromMean: [-1, 1, 0],
      zScores: [-1, 1, 0],
    });
  });

  test("takes finite values together, counts the others, and has none of them among the outliers", () => {
    const { steps, heatmap, outliers } = summarize([1, 0, 1], [1, 1, NaN], [1, 2, 3], [1, 3, Infinity], [2, 0, NaN]);
    expect(steps).toMatchObject([
      { step: 1, rankCount: 4, nonFinite: 2, mean: 2, weightedMean: 2, min: 1, max: 3, stddev: 1, p50: 3 },
      { step: 2, rankCount: 1, nonFinite: 1, mean: NaN, min: NaN, p95: NaN, missingRanks: [1, 2, 3] },
    ]);
    expect(heatmap).toMatchObject({ values: [1, NaN, 3, Infinity, NaN], deltasFromMean: [-1, NaN, 1, NaN, NaN] });
    expect(positions(outliers)).toEqual([
      [1, 0],
      [1, 2],
    ]);
  });

  test("expects the largest world that a rank of the step reported, and says where they differ", () => {
    const { steps } = summarize([0, 0, 1, 2], [0, 1, 1, 4], [1, 0, 1, 2], [1, 1, 1, 2]);
    expect(steps).toMatchObject([
      { expectedWorldSize: 4, worldSizeMismatch: true, missingRanks: [2, 3] },
      { expectedWorldSize: 2, worldSizeMismatch: false, missingRanks: [] },
    ]);
  });

  test.each([
    [128, 127],
    [129, 0],
  ])("of a world of %i names %i missing ranks", (worldSize, named) => {
    expect(summarize([0, 0, 1, worldSize]).steps[0]!.missingRanks).toHaveLength(named);
  });

  test("has an infinite distance where a double cannot hold it, and a standard score all the same", () => {
    const far = Number.MAX_VALUE;
    const { heatmap } = summarize([0, 0, -far], [0, 1, -far], [0, 2, -far], [0, 3, far]);
    expect(heatmap.deltasFromMean.at(-1)).toBe(Infinity);
    expect(heatmap.zScores.at(-1)).toBeCloseTo(Math.sqrt(3), 12);
  });
});

describe("a heatmap", () => {
  test("of 16,384 cells is whole", () => {
    const { heatmap, heatmapTruncated } = grid(256, 64);
    expect(heatmap.steps).toHaveLength(16_384);
    expect(heatmapTruncated).toBe(false);
  });

  test("of more keeps whole steps, evenly spaced, the first and the last among them", () => {
    const { heatmap, heatmapTruncated, steps } = grid(1000, 64);
    const kept = [...new Set(heatmap.steps)];
    expect(heatmapTruncated).toBe(true);
    expect(kept).toHaveLength(256);
    expect([kept[0], kept.at(-1)]).toEqual([0, 999]);
    const gaps = kept.slice(1).map((step, i) => step - kept[i]!);
    expect(gaps.every((gap) => gap === 3 || gap === 4)).toBe(true);
    expect(heatmap.steps).toHaveLength(256 * 64);
    expect(steps).toHaveLength(1000);
  });

  test("counts with the step that has the most ranks", () => {
    const entries = Array.from({ length: 512 }, (_, rank): Entry => [0, rank, 1, 512]);
    const more = Array.from({ length: 16_384 }, (_, i): Entry => [1 + i, 0, 1, 512]);
    const { heatmap } = summarize(...entries, ...more);
    const kept = [...new Set(heatmap.steps)];
    expect(kept).toHaveLength(32);
    expect(kept).toEqual(Array.from({ length: 32 }, (_, i) => Math.round((i * 16_384) / 31)));
    expect(heatmap.steps).toHaveLength(512 + 31);
  });
});

describe("outliers", () => {
  test("are all ranks and steps where these are 20, the farthest by standard deviations first", () => {
    const { outliers, outliersTruncated } = grid(5, 4, (step, rank) => (step === 3 && rank === 2 ? 100 : rank % 2));
    expect(outliers.steps).toHaveLength(20);
    expect(outliersTruncated).toBe(false);
    expect(positions(outliers)[0]).toEqual([3, 2]);
    const distances = outliers.zScores.map(Math.abs);
    expect(distances).toEqual([...distances].sort((a, b) => b - a));
  });

  test("of more than 20 are the first 20, also from steps that the heatmap leaves out", () => {
    const { outliers, outliersTruncated, heatmap } = grid(1000, 64, (step, rank) =>
      step === 1 && rank === 5 ? 1e9 : rank % 2,
    );
    expect(outliers.steps).toHaveLength(20);
    expect(outliersTruncated).toBe(true);
    expect(positions(outliers)[0]).toEqual([1, 5]);
    expect(heatmap.steps).not.toContain(1);
  });

  test("of one standard score are ordered by their distance, then by step and rank", () => {
    const { outliers } = summarize([0, 0, -1], [0, 1, 1], [1, 0, -5], [1, 1, 5], [2, 0, -1], [2, 1, 1]);
    expect(positions(outliers)).toEqual([
      [1, 0],
      [1, 1],
      [0, 0],
      [0, 1],
      [2, 0],
      [2, 1],
    ]);
  });

  test("of steps at which all ranks agree have the score 0", () => {
    const { outliers } = summarize([0, 0, 3], [0, 1, 3]);
    expect(outliers).toMatchObject({ zScores: [0, 0], deltasFromMean: [0, 0] });
  });
});
