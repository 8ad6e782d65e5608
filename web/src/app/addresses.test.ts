import { expect, test } from "@jest/globals";
import { localAddress, projectAddress, runAddress, signInAddress } from "./addresses.ts";

test("names are escaped", () => {
  expect(projectAddress("a/b?c#d é")).toBe("/p/a%2Fb%3Fc%23d%20%C3%A9");
  expect(runAddress("p", "1", "logs")).toBe("/p/p/r/1/logs");
});

test("signing in leads back, and not to itself", () => {
  expect(signInAddress("/p/a?q=x y")).toBe("/signin?next=%2Fp%2Fa%3Fq%3Dx%20y");
  expect(signInAddress("/")).toBe("/signin");
});

test.each(["/p/a?q=1#x", "/", "/settings/keys"])("%s is an address of the dashboard", (next) => {
  expect(localAddress(next)).toBe(next);
});

test.each([
  null,
  "",
  "p/a",
  "//evil.test/x",
  "/\\evil.test",
  "\\\\evil.test",
  "https://evil.test",
  "javascript:alert(1)",
  "/\t/evil.test",
  "/\n/evil.test",
  "/..//evil.test",
])("%j leads to the first page", (next) => {
  expect(localAddress(next)).toBe("/");
});
