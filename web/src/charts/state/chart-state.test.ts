import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { ALSO_MAX, chartsText, plainChart, withChart, type ChartOptions } from "./chart-options.ts";
import { nextSmoothing, queryOf, STATE_USUAL, stateOf, withOptions, type ChartState } from "./chart-state.ts";

const text = fc.string({ minLength: 1 });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const above0 = fc.double({ noNaN: true, noDefaultInfinity: true, min: Number.MIN_VALUE });

const axes = fc.oneof(
  fc.constantFrom("step" as const, "relative" as const, "time" as const),
  text.map((key) => `metric:${key}` as const),
);

/** Charts with options of their own. */
const charts = fc
  .record(
    {
      key: text,
      also: fc.uniqueArray(
        text.map((key) => `also ${key}`),
        { minLength: 1, maxLength: ALSO_MAX },
      ),
      size: fc.constantFrom(1 as const, 2 as const, 3 as const),
      title: text,
      x: axes,
      yLog: fc.boolean(),
      yMin: fc.integer(),
      smoothing: fc.constantFrom("none" as const, { kind: "ema" as const, parameter: 0.5 }),
      band: fc.constantFrom("std" as const, "range" as const, "none" as const),
      mark: fc.constant("points" as const),
    },
    { requiredKeys: ["key", "also", "size"] },
  )
  .filter(({ key, also }) => !also.includes(key))
  .map((chart): ChartOptions => ("yMin" in chart ? { ...chart, yMax: chart.yMin! + 0.5 } : chart));

const states: fc.Arbitrary<ChartState> = fc.record({
  x: axes,
  xLog: fc.boolean(),
  yLog: fc.boolean(),
  ignoreOutliers: fc.boolean(),
  band: fc.constantFrom("std" as const, "range" as const, "none" as const),
  smoothing: fc.option(
    fc.oneof(
      fc.record({
        kind: fc.constant("ema" as const),
        parameter: fc.double({ noNaN: true, min: Number.MIN_VALUE, max: 1, maxExcluded: true }),
      }),
      fc.record({ kind: fc.constantFrom("gaussian" as const, "mean" as const), parameter: above0 }),
    ),
    { nil: undefined },
  ),
  search: fc.string(),
  pinned: fc.uniqueArray(text, { maxLength: 4 }),
  zoom: fc.option(
    fc
      .tuple(finite, finite)
      .filter(([a, b]) => a !== b)
      .map(([a, b]): readonly [number, number] => [Math.min(a, b) + 0, Math.max(a, b) + 0]),
    { nil: undefined },
  ),
  group: fc.option(
    fc.record({
      names: fc.uniqueArray(
        text.filter((name) => !name.startsWith("-")),
        { minLength: 1, maxLength: 4 },
      ),
      allBut: fc.boolean(),
    }),
    { nil: undefined },
  ),
  lineage: fc.boolean(),
  patterns: fc.boolean(),
  order: fc.uniqueArray(text, { maxLength: 4 }),
  moved: fc.uniqueArray(
    fc.tuple(
      text,
      fc.string().filter((name) => !name.includes("/")),
    ),
    { maxLength: 4, selector: ([key]) => key },
  ),
  own: fc.uniqueArray(charts, { maxLength: 4, selector: ({ key }) => key }),
  opened: fc.uniqueArray(
    text.map((id) => `${id} opened`),
    { maxLength: 3 },
  ),
  closed: fc.uniqueArray(
    text.map((id) => `${id} closed`),
    { maxLength: 3 },
  ),
});

/** As an address holds it. */
function throughAddress(state: ChartState, usualX?: ChartState["x"]): ChartState {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(queryOf(state, usualX))) if (value !== undefined) query.set(name, value);
  return stateOf(new URLSearchParams(query.toString()), usualX);
}

describe("the choices for charts", () => {
  test("are the same after they went through an address", () => {
    fc.assert(fc.property(states, (state) => expect(throughAddress(state)).toEqual(state)));
  });

  test("may have another usual axis, which needs no address", () => {
    fc.assert(fc.property(states, (state) => expect(throughAddress(state, "relative")).toEqual(state)));
    expect(queryOf({ ...STATE_USUAL, x: "relative" }, "relative").x).toBeUndefined();
    expect(queryOf(STATE_USUAL, "relative").x).toBe("step");
    expect(stateOf(new URLSearchParams("x=nonsense"), "relative").x).toBe("relative");
  });

  test("that are usual need no address", () => {
    expect(Object.values(queryOf(STATE_USUAL)).every((value) => value === undefined)).toBe(true);
    expect(stateOf(new URLSearchParams())).toEqual(STATE_USUAL);
  });

  test.each([
    "x=metric:",
    "x=nonsense",
    "y=what",
    "smooth=ema:1",
    "smooth=mean:-1",
    "smooth=ema:",
    "smooth=x:1",
    "zoom=2~1",
    "zoom=1~1",
    "zoom=a~b",
    "zoom=~5",
    "zoom=1~2~3",
    "group=-",
    "keys=",
    "lineage=yes",
    "patterns=0",
    "opened=,",
    "moved=loss,\\,a,a\\,b/c,a\\,b\\,c",
    "own=loss",
    "own=loss,loss\\,size=4\\,x=what\\,smooth=ema:2\\,band=wide\\,mark=x\\,min=x\\,y=curved\\,also=loss",
    "own=a\\,min=3\\,max=3",
  ])("that make no sense, as %s, are as usual", (query) => {
    expect(stateOf(new URLSearchParams(query))).toEqual(STATE_USUAL);
  });

  test("are readable", () => {
    expect(
      queryOf({
        ...STATE_USUAL,
        x: "relative",
        xLog: true,
        yLog: true,
        smoothing: { kind: "ema", parameter: 0.9 },
        search: "loss",
        pinned: ["a,b"],
        zoom: [10, 20.5],
        group: { names: ["config.lr", "tags"], allBut: false },
        lineage: true,
        patterns: true,
        opened: ["layer"],
      }),
    ).toEqual({
      x: "log:relative",
      y: "log",
      smooth: "ema:0.9",
      keys: "loss,a\\,b",
      zoom: "10~20.5",
      group: "config.lr,tags",
      lineage: "1",
      patterns: "1",
      opened: "layer",
    });
  });
});

describe("the options of a chart", () => {
  const own: ChartOptions = { key: "loss", also: ["val/loss"], size: 2, title: "Loss, both", yMin: 0, yLog: true };

  test("replace what all charts have, and leave the rest to them", () => {
    const state = { ...STATE_USUAL, smoothing: { kind: "ema", parameter: 0.9 }, xLog: true } as const;
    expect(withOptions(state, own)).toEqual({ ...state, yLog: true });
    expect(withOptions(state, { ...own, smoothing: "none", x: "time" })).toMatchObject({ x: "time", xLog: false });
    expect(withOptions(state, { ...own, smoothing: "none" }).smoothing).toBeUndefined();
  });

  test("are readable, and gone when they are those of all charts", () => {
    expect(chartsText([own])).toBe("loss\\,also=val/loss\\,title=Loss\\\\\\, both\\,size=2\\,y=log\\,min=0");
    expect(withChart([own, { ...own, key: "b" }], plainChart("loss"))).toEqual([{ ...own, key: "b" }]);
  });
});

test("keys go through amounts of smoothing", () => {
  expect(nextSmoothing(undefined, -1)).toBeUndefined();
  expect(nextSmoothing(undefined, 1)).toEqual({ kind: "ema", parameter: 0.3 });
  expect(nextSmoothing({ kind: "ema", parameter: 0.3 }, -1)).toBeUndefined();
  expect(nextSmoothing({ kind: "mean", parameter: 7 }, 1)).toEqual({ kind: "mean", parameter: 10 });
  expect(nextSmoothing({ kind: "mean", parameter: 7 }, -1)).toEqual({ kind: "mean", parameter: 5 });
  expect(nextSmoothing({ kind: "ema", parameter: 0.999 }, 1)).toEqual({ kind: "ema", parameter: 0.999 });
});
