import { expect, test } from "@jest/globals";
import { figureRow, sideBySide, type WebFigure } from "./figures.ts";

const rows = (values: number[], note = ""): WebFigure => ({ name: "first rows", unit: "ms", values, note });

test("a row has percentiles, how often it was measured, and what was wanted", () => {
  expect(figureRow(rows([1000, 1200, 1100], "p95 300"))).toBe("| first rows, ms | 1,100 | 1,200 | 3 | p95 300 |");
});

test("side by side stands what two trackers have, and what one of them could not show", () => {
  const own: WebFigure = { name: "heap", unit: "MiB", values: [4], note: "" };
  const table = sideBySide(
    new Map([
      ["ours", [rows([10]), own]],
      ["theirs", [rows([], "not shown")]],
    ]),
  );
  expect(table.split("\n")).toEqual([
    "| p50 / p95 | ours | theirs |",
    "|---|---|---|",
    "| first rows, ms | 10.0 / 10.0 | not shown |",
  ]);
});
