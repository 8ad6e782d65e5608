import { expect, test } from "@jest/globals";
import { loginsOf } from "./login-urls.ts";

test("modules and their URLs are separated by any white space", () => {
  const logins = loginsOf("runs=postgres://a:b=c@h/d?x=y\n  usage=postgresql://e@h\n");
  expect(logins.map(({ url }) => url)).toEqual(["postgres://a:b=c@h/d?x=y", "postgresql://e@h"]);
  expect(logins[0]!.roles).toContain("tidemark_runs");
  expect(loginsOf("")).toEqual([]);
});

test.each([
  ["a module that does not exist", "runners=postgres://secret@h", "a module with a database"],
  ["a module without a database", "gateway=postgres://secret@h", "a module with a database"],
  ["a URL alone", "postgres://secret@h", "a module with a database"],
  ["a module alone", "runs", "no postgres:// URL for runs"],
  ["another URL", "runs=http://secret@h", "no postgres:// URL for runs"],
  ["a module twice", "runs=postgres://secret@h runs=postgres://secret@h", "names runs twice"],
])("%s is a fault that shows no secret", (_, text, expected) => {
  expect(() => loginsOf(text)).toThrow(expected);
  expect(() => loginsOf(text)).not.toThrow("secret");
});
