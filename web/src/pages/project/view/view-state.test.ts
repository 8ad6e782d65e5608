import fc from "fast-check";
import { expect, test } from "@jest/globals";
import {
  cellWords,
  columnName,
  columnSource,
  FIELD_NAMES,
  FIGURES,
  settingWords,
  sortOf,
  valueWords,
} from "../table/columns.ts";
import { joinList, splitList } from "../../../app/addresses.ts";
import { isShown, withShown } from "../runs/shown-runs.ts";
import { addressOfView, payloadOfView } from "./saved-view.ts";
import { FIRST_CHOICES, queryOf, stateOf, VIEW_USUAL, type ViewState } from "./view-state.ts";

const key = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes(","));
const column = fc.oneof(
  fc.constantFrom(...FIELD_NAMES),
  key.map((name) => `config.${name}`),
  fc.tuple(key, fc.constantFrom(...FIGURES)).map(([name, figure]) => `metrics.${name}.${figure}`),
);
const ids = fc.uniqueArray(fc.uuid(), { maxLength: 5 });
const state: fc.Arbitrary<ViewState> = fc.record({
  q: fc.string(),
  sort: column.filter((name) => sortOf(name) !== undefined),
  dir: fc.constantFrom("asc", "desc"),
  cols: fc.uniqueArray(column, { maxLength: 6 }),
  widths: fc.dictionary(
    key.filter((name) => name !== "__proto__" && !name.includes("\n") && !/[\u2028\u2029\r]/.test(name)),
    fc.integer({ min: 56, max: 720 }),
    { noNullPrototype: true },
  ),
  pin: ids,
  base: fc.option(fc.uuid(), { nil: undefined }),
  sel: ids,
  show: ids,
  hide: ids,
  first: fc.constantFrom(...FIRST_CHOICES),
  split: fc.integer({ min: 0, max: 100 }),
  tab: fc.constantFrom("table", "charts"),
  charts: fc.constantFrom("steps", "columns"),
  view: fc.option(fc.uuid(), { nil: undefined }),
});

test("an address leads back to its state", () => {
  fc.assert(
    fc.property(state, (shown) => {
      const entries = Object.entries(queryOf(shown)).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      expect(stateOf(new URLSearchParams(new URLSearchParams(entries).toString()))).toEqual(shown);
    }),
  );
});

test("defaults are not in the address, and malformed values count as defaults", () => {
  expect(Object.values(queryOf(VIEW_USUAL)).filter((value) => value !== undefined)).toEqual([]);
  const wrong = new URLSearchParams("sort=tags&dir=up&pin=x&base=1&first=7&split=500&tab=else&widths=9:name,wide");
  expect(stateOf(wrong)).toEqual(VIEW_USUAL);
});

test("lists keep commas and backslashes", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), (texts) => {
      expect(splitList(joinList(texts) ?? null)).toEqual(texts);
    }),
  );
});

test.each([
  ["metrics.train/loss", { kind: "metric", key: "train/loss", figure: "latest" }, "metrics.train/loss.latest"],
  ["metrics.loss.best", { kind: "metric", key: "loss", figure: "best" }, "metrics.loss.best"],
  ["metrics.mean", { kind: "metric", key: "mean", figure: "latest" }, "metrics.mean.latest"],
  ["config.optimizer.name", { kind: "config", key: "optimizer.name" }, "config.optimizer.name"],
  ["attributes.sys/tags", { kind: "attribute", key: "sys/tags" }, "attributes.sys/tags"],
] as const)("the column %s is read and written", (name, source, written) => {
  expect(columnSource(name)).toEqual(source);
  expect(columnName(columnSource(name)!)).toBe(written);
});

test.each(["config.", "other.key", "config.a,b", "toString"])("%s is not a column", (name) => {
  expect(columnSource(name)).toBeUndefined();
});

test.each([
  [0.1 + 0.2, "0.3"],
  [1e-7, "1e-7"],
  [123_456_789_012, "1.235e11"],
  [5, "5"],
  [null, ""],
  [{ a: 1 }, '{"a":1}'],
])("%j is written as %s", (value, text) => {
  expect(valueWords(value)).toBe(text);
});

test("a cell is NaN where the newest value of its metric is not finite", () => {
  const columns = { "metrics.loss.latest": 0.5, "metrics.acc.latest": 1, "metrics.loss.best": null };
  const run = { columns, non_finite_columns: ["metrics.loss.latest", "metrics.loss.best"] };
  expect([...Object.keys(columns), "metrics.none.latest"].map((name) => cellWords(run, name))).toEqual([
    "NaN",
    "1",
    "NaN",
    "",
  ]);
  expect(cellWords({ columns }, "metrics.loss.latest")).toBe("0.5");
});

test("two seeds that differ in the last digit are written digit by digit", () => {
  expect([2 ** 53, 2n ** 53n + 1n, { seed: 2n ** 63n }, 0.1 + 0.2].map(settingWords)).toEqual([
    "9007199254740992",
    "9007199254740993",
    '{"seed":9223372036854775808}',
    "0.3",
  ]);
});

test("the first runs are shown, and what a person says of others holds", () => {
  const shown = { ...VIEW_USUAL, ...withShown(VIEW_USUAL, ["a"], true) };
  expect(isShown(shown, "a", undefined)).toBe(true);
  const hidden = { ...shown, ...withShown(shown, ["a", "b"], false) };
  expect(isShown(hidden, "a", 0)).toBe(false);
  expect(isShown(hidden, "c", 9)).toBe(true);
  expect(isShown(hidden, "c", 10)).toBe(false);
});

test("a saved view holds what is shown and not what belongs to a moment", () => {
  const payload = payloadOfView(new URLSearchParams("q=a&sel=1&smooth=ema:0.9&view=old"));
  expect(addressOfView(payload, "new")).toBe("q=a&smooth=ema%3A0.9&view=new");
  expect(addressOfView({ sections: [] }, "new")).toBeUndefined();
  expect(addressOfView(null, "new")).toBeUndefined();
});
