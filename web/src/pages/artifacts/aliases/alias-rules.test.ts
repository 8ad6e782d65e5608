import { expect, test } from "@jest/globals";
import { aliasFault, holderOf, isRemovable } from "./alias-rules.ts";

test.each(["best", "v", "v1.2", "a".repeat(64), "prod_2-x", "valid", "0"])("%s can be an alias", (alias) => {
  expect(aliasFault(alias)).toBeUndefined();
});

test.each([
  ["latest", "newest version"],
  ["v12", "name of a version"],
  ["a".repeat(65), "64 characters"],
  ["Best", "only the characters"],
  ["a b", "only the characters"],
  ["", "only the characters"],
])("%s cannot, and it is said why", (alias, why) => {
  expect(aliasFault(alias)).toContain(why);
});

test("latest cannot be removed", () => {
  expect([isRemovable("latest"), isRemovable("best")]).toEqual([false, true]);
});

test("an alias is found at its version", () => {
  const versions = [{ aliases: ["latest"] }, { aliases: ["best", "old"] }] as never;
  expect(holderOf("old", versions)).toBe(versions[1]);
  expect(holderOf("ol", versions)).toBeUndefined();
});
