import { describe, expect, test } from "@jest/globals";
import { basePathFaults, basePathOf, withBasePath, withoutBasePath } from "./base-path.ts";

test.each([
  ["https://host", ""],
  ["https://host/", ""],
  ["http://a:8080/tidemark/", "/tidemark"],
  ["https://host/a/b", "/a/b"],
])("the path of %s is %j", (url, path) => expect(basePathOf(url)).toBe(path));

describe("a request", () => {
  test.each([
    ["/tidemark/runs?x=1", "/runs?x=1"],
    ["/tidemark", "/"],
    ["/tidemark?x=1", "/?x=1"],
    // A proxy has removed it.
    ["/runs", "/runs"],
    ["/tidemarks/a", "/tidemarks/a"],
  ])("to %s is one to %s", (target, expected) => expect(withoutBasePath(target, "/tidemark")).toBe(expected));

  test("is unchanged at the root", () => expect(withoutBasePath("/runs", "")).toBe("/runs"));
});

test("a path on the server is found by clients, also where it says so already", () => {
  expect(["/p/a", "/tidemark/p/a", "/"].map((path) => withBasePath(path, "/tidemark"))).toEqual([
    "/tidemark/p/a",
    "/tidemark/p/a",
    "/tidemark/",
  ]);
  expect(withBasePath("/p/a", "")).toBe("/p/a");
});

test.each([
  [undefined, 0],
  ["https://host/lab/tidemark/", 0],
  ["https://host/runs", 1],
  ["https://host/p/x", 1],
  ["https://host/a?b=c", 1],
  ["https://host/a%20b", 1],
])("the public URL %s has %d faults", (url, count) =>
  expect(basePathFaults(url, ["/runs", "/runs/{run_id}", "/p"])).toHaveLength(count),
);
