import { expect, test } from "@jest/globals";
import { isSame } from "./pages.ts";

test("objects are the same when all their values are", () => {
  const list: number[] = [];
  const same = (one: object, other: object): boolean => isSame(one, other);
  expect(same({ a: 1, list }, { a: 1, list })).toBe(true);
  expect(same({ a: 1, list }, { a: 1, list: [] })).toBe(false);
  expect(same({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(same({ a: 1, b: 2 }, { a: 1 })).toBe(false);
  expect(same({ a: undefined }, { b: undefined })).toBe(false);
});
