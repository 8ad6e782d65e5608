import { expect, test } from "@jest/globals";
import { addressOf, pathOf } from "./base-path.ts";

test.each([
  ["/p/a?b=1", "/lab/p/a?b=1"],
  ["/", "/lab/"],
  ["/lab/p/a", "/lab/p/a"],
  ["//evil.test/", "//evil.test/"],
  ["https://host.test/", "https://host.test/"],
  ["#main", "#main"],
])("below a path %s is at %s", (path, address) => expect(addressOf(path, "/lab")).toBe(address));

test.each([
  ["/lab", "/"],
  ["/lab/p/a", "/p/a"],
  ["/p/a", "/p/a"],
])("the address %s shows %s", (pathname, path) => expect(pathOf(pathname, "/lab")).toBe(path));

test("at the root nothing changes", () => {
  expect([addressOf("/p/a", ""), pathOf("/p/a", "")]).toEqual(["/p/a", "/p/a"]);
});
