import { describe, expect, test } from "@jest/globals";
import { PAPER } from "../scene/figure.ts";
import { barAt, barNotes, barScene, barsHeight } from "./bar-scene.ts";
import { BARS_MAX, barsDomain, barsSheet, drawnBars, type Bar } from "./bars.ts";
import { csvOfSheet, rowsToRead } from "./sheet.ts";

const bar = (id: string, value: number | null, spread?: Bar["spread"]): Bar => ({
  id,
  name: `run ${id}`,
  color: "#4248fe",
  value,
  spread,
});

describe("the bars that are drawn", () => {
  test("have a value, and are the first ones", () => {
    const many = Array.from({ length: BARS_MAX + 2 }, (_, i) => bar(String(i), i));
    const chosen = drawnBars([bar("x", null), bar("y", Number.NaN), ...many]);
    expect([chosen.drawn.length, chosen.drawn[0]!.id, chosen.empty, chosen.beyond]).toEqual([BARS_MAX, "0", 2, 2]);
    expect(barNotes(chosen, "run")).toEqual(["2 runs without a value", "The first 60 of 62 runs are drawn"]);
  });

  test("have an axis from 0 that shows deviations whole", () => {
    expect(barsDomain(drawnBars([bar("a", 3), bar("b", 5, { std: 2, count: 3 })]).drawn)).toEqual([0, 7]);
    expect(barsDomain(drawnBars([bar("a", -3), bar("b", 1, { std: 2, count: 2 })]).drawn)).toEqual([-3, 3]);
    expect(barsDomain([])).toEqual([0, 1]);
    expect(barsDomain(drawnBars([bar("a", 0)]).drawn)).toEqual([0, 1]);
  });

  test("are what the file has", () => {
    expect(csvOfSheet(barsSheet(drawnBars([bar("a", 0.1 + 0.2), bar("b", null)]), "=loss"))).toBe(
      "id,name,'=loss\r\na,run a,0.30000000000000004\r\n",
    );
    const groups = [bar("g", 2, { std: 1, count: 3 }), bar("h", 4)];
    expect(barsSheet(drawnBars(groups), "loss")).toEqual({
      head: ["id", "name", "loss", "std", "count"],
      rows: [
        ["g", "run g", 2, 1, 3],
        ["h", "run h", 4, undefined, undefined],
      ],
    });
  });
});

describe("a picture of bars", () => {
  const chosen = drawnBars([bar("a", 4), bar("b", -2), bar("c", 2, { std: 1, count: 2 })]);
  const drawn = barScene(chosen, "loss", 600, PAPER)!;
  const boxes = drawn.scene.inside.flatMap((shape) => (shape.kind === "boxes" ? [[...shape.boxes]] : []));

  test("has bars from 0 whose lengths are their values", () => {
    const zero = drawn.x.toPixel(0);
    expect(boxes.map(([left, , width]) => [left, width])).toEqual([
      [zero, expect.closeTo(drawn.x.toPixel(4) - zero, 9)],
      [expect.closeTo(drawn.x.toPixel(-2), 9), expect.closeTo(zero - drawn.x.toPixel(-2), 9)],
      [zero, expect.closeTo(drawn.x.toPixel(2) - zero, 9)],
    ]);
    const whiskers = drawn.scene.inside.flatMap((shape) => (shape.kind === "path" ? [shape.points] : []));
    expect(whiskers.map((points) => [points[0], points[2]])).toEqual([[drawn.x.toPixel(1), drawn.x.toPixel(3)]]);
  });

  test("finds the bar of a row", () => {
    const middle = (i: number): number => boxes[i]![1]! + boxes[i]![3]! / 2;
    expect([0, 1, 2].map((i) => barAt(drawn, middle(i)))).toEqual(["a", "b", "c"]);
    expect(barAt(drawn, drawn.scene.height - 2)).toBeUndefined();
    expect(drawn.scene.height).toBe(barsHeight(3));
  });

  test("is none without values", () =>
    expect(barScene(drawnBars([bar("a", null)]), "loss", 600, PAPER)).toBeUndefined());
});

test("a long table is read in even parts, and says so", () => {
  const rows = Array.from({ length: 401 }, (_, i) => [i]);
  const read = rowsToRead({ head: ["n"], rows });
  expect([read.rows.length, read.rows[0], read.rows.at(-1)]).toEqual([135, [0], [400]]);
  expect(read.left).toBe("This shows 135 of 401 rows. The CSV file has all.");
  expect(rowsToRead({ head: ["n"], rows: rows.slice(0, 200) })).toEqual({ rows: rows.slice(0, 200), left: "" });
});
