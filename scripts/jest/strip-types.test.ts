import { expect, test } from "@jest/globals";
import transformer from "./strip-types.ts";

test("types become blanks, so that every line and column stays where it was", () => {
  expect(transformer.process("const a: number = 1;\nexport const b = a as number;").code).toBe(
    "const a         = 1;\nexport const b = a          ;",
  );
});

test("syntax that Node would refuse is refused", () => {
  expect(() => transformer.process("enum Colour { Red }")).toThrow(/enum/);
});

test("the cache key follows the source", () => {
  expect(transformer.getCacheKey("a")).toBe(transformer.getCacheKey("a"));
  expect(transformer.getCacheKey("a")).not.toBe(transformer.getCacheKey("b"));
});
