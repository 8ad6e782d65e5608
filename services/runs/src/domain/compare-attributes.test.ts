import { expect, test } from "@jest/globals";
import { attributeRows, type AttributeCell } from "./compare-attributes.ts";

const cells = (...parts: [number, string, string | null][]): AttributeCell[] =>
  parts.map(([place, path, value]) => ({ place, path, value }));

test("the values of a path come together, in the order of the paths", () => {
  expect(
    attributeRows("attribute/", 3, cells([1, "b", "1"], [1, "c", '"x"'], [3, "a", "null"], [3, "b", "2"])),
  ).toEqual({
    rows: [
      { path: "attribute/a", values: ["", "", "null"] },
      { path: "attribute/b", values: ["1", "", "2"] },
      { path: "attribute/c", values: ['"x"', "", ""] },
    ],
    reached: "c",
    ended: true,
  });
});

test("what lies behind the first path that is owed to a run comes again", () => {
  const page = cells([1, "a", "1"], [1, "z", "2"], [2, "a", "3"], [2, "b", "4"], [2, "c", null], [3, "x", null]);
  expect(attributeRows("attribute/", 3, page)).toEqual({
    rows: [
      { path: "attribute/a", values: ["1", "3", ""] },
      { path: "attribute/b", values: ["", "4", ""] },
    ],
    reached: "b",
    ended: false,
  });
});

test("a page that completes no path says that it is not the end", () => {
  expect(attributeRows("attribute/", 2, cells([1, "a", "1"], [2, "a", null]))).toEqual({
    rows: [],
    reached: undefined,
    ended: false,
  });
});

test("paths are ordered by code points", () => {
  const { rows } = attributeRows("", 1, cells([1, "\u{1F600}", "1"], [1, "\u{FF01}", "2"], [1, "é", "3"]));
  expect(rows.map(({ path }) => path)).toEqual(["é", "\u{FF01}", "\u{1F600}"]);
});
