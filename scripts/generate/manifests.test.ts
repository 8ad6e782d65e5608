import { expect, test } from "@jest/globals";
import { placeLines } from "./manifests.ts";

test("lines are placed between their comments, as deep as these, again and again", () => {
  const text = "a:\n  # generated: b\n  old\n  # end: b\n  # generated: c\n  # end: c\n";
  const placed = placeLines(text, "b", ["- one", "  two"]);
  expect(placed).toBe("a:\n  # generated: b\n  - one\n    two\n  # end: b\n  # generated: c\n  # end: c\n");
  expect(placeLines(placed, "b", ["- one", "  two"])).toBe(placed);
});

test("a text without the comments is refused", () => {
  expect(() => placeLines("# end: b\n# generated: b\n", "b", [])).toThrow(
    "needs the lines # generated: b and # end: b",
  );
});
