import { expect, test } from "@jest/globals";
import { stateOf } from "../view/view-state.ts";
import { neededFirst, pinIdsOf, pinnedAndShownIds } from "./shown-runs.ts";

const id = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
const queriesOf = (address: string): Record<string, string>[] =>
  neededFirst(id(9), new URLSearchParams(address)).map((path) => {
    const { pathname, searchParams } = new URL(path, "http://server");
    expect(pathname).toBe("/api/runs/summary");
    return Object.fromEntries(searchParams);
  });

test("the first rows are requested ahead, as the address sorts, searches and shows them", () => {
  expect(queriesOf("")).toEqual([
    { project_id: id(9), projection: "selection", limit: "100", sort_by: "created", sort_dir: "desc" },
  ]);
  expect(queriesOf("q=config.lr<0.5&sort=name&dir=asc&cols=status,metrics.loss.best,config.lr")).toEqual([
    {
      project_id: id(9),
      projection: "selection",
      limit: "100",
      sort_by: "name",
      sort_dir: "asc",
      q: "config.lr<0.5",
      columns: "metrics.loss.best,config.lr",
    },
  ]);
});

test("and the runs that it pins, shows and selects, each once", () => {
  const [, apart, selected, ...more] = queriesOf(
    `base=${id(1)}&pin=${id(2)},${id(1)}&show=${id(3)}&sel=${id(4)}&cols=config.lr`,
  );
  expect(apart).toMatchObject({ q: `id:${id(1)} OR id:${id(2)} OR id:${id(3)}`, limit: "10", columns: "config.lr" });
  expect(selected).toMatchObject({ q: `id:${id(4)}` });
  expect(more).toEqual([]);
  expect(queriesOf(`base=${id(1)}&sel=${id(1)}`)).toHaveLength(2);
});

test("few runs stay on top, the baseline first", () => {
  const pins = Array.from({ length: 30 }, (_, i) => id(i));
  const state = { ...stateOf(new URLSearchParams()), base: id(20), pin: pins, show: [id(20), id(29)] };
  expect(pinIdsOf(state)).toEqual([id(20), ...pins.slice(0, 9)]);
  expect(pinnedAndShownIds(state)).toEqual([id(20), ...pins.slice(0, 9), id(29)]);
});
