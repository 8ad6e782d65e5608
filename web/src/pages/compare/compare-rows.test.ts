import { expect, test } from "@jest/globals";
import { compareCsv, compareRows, deltaOf, differ, readDirections, writeDirections } from "./compare-rows.ts";

test("nested configs have a line for each value, and lines that differ come first", () => {
  const rows = compareRows(
    [
      { path: "config/depth", values: { a: 3, b: 3 } },
      { path: "config/optimizer", values: { a: { name: "adam", lr: 1 }, b: { name: "adam", lr: 2 } } },
      { path: "metric/train/loss/latest", values: { a: 1, b: null } },
      { path: "config/mixed", values: { a: { x: 1 }, b: 4 } },
    ],
    ["a", "b"],
  );
  expect(rows.map(({ label, different }) => [label, different])).toEqual([
    ["mixed", true],
    ["optimizer.lr", true],
    ["train/loss", true],
    ["depth", false],
    ["optimizer.name", false],
  ]);
  expect(rows[2]).toMatchObject({ metric: "train/loss", values: [1, undefined] });
});

test("a run whose newest value is not finite has NaN as its latest; other figures are of its finite values", () => {
  const rows = [
    { path: "metric/loss/latest", values: { a: 1, b: null, c: 3 } },
    { path: "metric/loss/max", values: { a: 2, b: null, c: 4 } },
    { path: "metric/loss/non_finite_step", values: { a: 9, b: 5, c: null } },
  ];
  const valuesOf = (...more: [figure?: "latest" | "max" | "best", ofEach?: Parameters<typeof compareRows>[3]]) =>
    compareRows(rows, ["a", "b", "c"], ...more).map(({ label, values }) => [label, values]);
  expect(valuesOf()).toEqual([["loss", ["NaN", "NaN", 3]]]);
  expect(valuesOf("max")).toEqual([["loss", [2, "NaN", 4]]]);
  const best = (value: number | null) => ({ loss: { latest: 0, best: value, min: 0, max: 0, mean: 0 } });
  expect(valuesOf("best", [best(1), best(null), best(3)])).toEqual([["loss", [1, "NaN", 3]]]);
});

test("the order of keys is not a difference, and a missing value is one", () => {
  expect(
    differ([
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).toBe(false);
  expect(differ([1, undefined])).toBe(true);
  expect(differ([1, "1"])).toBe(true);
  const seeds = [2 ** 53, 2n ** 53n + 1n];
  expect(differ(seeds)).toBe(true);
  expect(differ([{ seed: [seeds[0]] }, { seed: [seeds[1]] }])).toBe(true);
});

test.each([
  [3, 2, "min", "+1", "worse"],
  [1, 2, "min", "−1", "better"],
  [3, 2, "max", "+1", "better"],
  [1, 2, "max", "−1", "worse"],
  [3, 2, undefined, "+1", "even"],
  [2, 2, "max", "±0", "even"],
] as const)("%d against %d, where the best is the %s, is %s and %s", (value, base, direction, text, tone) => {
  expect(deltaOf(value, base, direction)).toEqual({ text, tone });
});

test("texts and missing values have no difference", () => {
  expect(deltaOf("a", 1, "max")).toBeUndefined();
  expect(deltaOf(1, undefined, "max")).toBeUndefined();
});

test("directions that a person chose are read as they were written", () => {
  const chosen = new Map([["train/loss:x", "min"]] as const);
  expect(readDirections(writeDirections(chosen))).toEqual(chosen);
  expect(readDirections(["up:x"]).size).toBe(0);
});

test("metrics have one line, with the figure that was chosen", () => {
  const rows = ["latest", "max", "mean"].map((figure, i) => ({
    path: `metric/a/loss/${figure}`,
    values: { r1: i, r2: null },
  }));
  const ofEach = [{ "a/loss": { latest: 0, best: -1, min: -2, max: 1, mean: 2 } }, undefined];
  const shown = (["latest", "best", "min", "max", "mean"] as const).map((figure) =>
    compareRows(rows, ["r1", "r2"], figure, ofEach).map(({ label, values }) => [label, ...values]),
  );
  expect(shown).toEqual([0, -1, -2, 1, 2].map((value) => [["a/loss", value, undefined]]));
});

test("CSV has every digit, quotes what needs it, and guards texts that a spreadsheet takes for formulas", () => {
  const row = { part: "Config", label: 'a "b"', values: [0.1 + 0.2, "x,y", undefined], different: true } as const;
  const other = { part: "Config", label: "=b", values: [-1, "-1", 2n ** 63n], different: true } as const;
  expect(compareCsv(["r1", "+r2", "r3"], [row, other])).toBe(
    "part,key,r1,'+r2,r3\r\n" +
      'Config,"a ""b""",0.30000000000000004,"x,y",\r\n' +
      "Config,'=b,-1,'-1,9223372036854775808\r\n",
  );
});
