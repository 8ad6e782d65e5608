import { describe, expect, test } from "@jest/globals";
import { documentRows, tagRows } from "./compare-members.ts";

describe("documents beside each other", () => {
  test("have a row for each top key that one of them has, in order", () => {
    expect([...documentRows("config/", ['{"a":1,"c":{"x":1}}', "{}", '{"b":[1],"c":{"x":1.0}}'])]).toEqual([
      { path: "config/a", values: ["1", "", ""] },
      { path: "config/b", values: ["", "", "[1]"] },
      { path: "config/c", values: ['{"x":1}', "", '{"x":1.0}'] },
    ]);
  });

  test("come one at a time", () => {
    let taken = 0;
    for (const { path } of documentRows("config/", ['{"a":1,"b":2,"c":3}', '{"b":3}'])) {
      taken += 1;
      if (path === "config/b") break;
    }
    expect(taken).toBe(2);
  });

  test("keep keys that look like paths or numbers apart", () => {
    const paths = [...documentRows("m/", ['{"":1,"10":2,"9":3,"a/b":4}'])].map(({ path }) => path);
    expect(paths).toEqual(["m/", "m/10", "m/9", "m/a/b"]);
  });
});

test("tags have a row each, true where a run has them, however often", () => {
  expect([...tagRows("tag/", [["b", "a", "b"], [], ["c", "a"]])]).toEqual([
    { path: "tag/a", values: ["true", "", "true"] },
    { path: "tag/b", values: ["true", "", ""] },
    { path: "tag/c", values: ["", "", "true"] },
  ]);
});
