import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ExactValue } from "../../../api/exact-value.ts";
import { configRows, isBranch, mergeConfig } from "./config-rows.ts";

type Group = { readonly [key: string]: ExactValue };
const names = (tree: Group, options?: Parameters<typeof configRows>[1]) =>
  configRows(tree, options).map(({ path }) => path.join("."));

describe("a configuration", () => {
  const tree = { optim: { lr: 0.1, betas: [0.9, 0.99] }, seed: 3, name: "base", data: { path: "/data", aug: null } };

  test("is a tree in the order of names", () => {
    expect(names(tree)).toEqual(["data", "data.aug", "data.path", "name", "optim", "optim.betas", "optim.lr", "seed"]);
  });

  test("shows the type of each value", () => {
    const types = configRows({ a: 1, b: "1", c: true, d: null, e: [1], f: {} }).map(({ type }) => type);
    expect(types).toEqual(["number", "text", "boolean", "null", "list", "group"]);
  });

  test("hides what is below a closed group", () => {
    expect(names(tree, { closed: new Set(['["optim"]', '["data"]']) })).toEqual(["data", "name", "optim", "seed"]);
  });

  test("is searched in paths and values, groups above stay", () => {
    expect(names(tree, { search: "LR" })).toEqual(["optim", "optim.lr"]);
    expect(names(tree, { search: "/data" })).toEqual(["data", "data.path"]);
    expect(names(tree, { search: "optim.be" })).toEqual(["optim", "optim.betas"]);
    expect(names(tree, { search: "nothing" })).toEqual([]);
    expect(names(tree, { search: "lr", closed: new Set(['["optim"]']) })).toEqual(["optim", "optim.lr"]);
  });

  test("shows long lists and lists of groups member by member", () => {
    expect(names({ layers: [{ units: 3 }, { units: 4 }] })).toEqual([
      "layers",
      "layers.0",
      "layers.0.units",
      "layers.1",
      "layers.1.units",
    ]);
    expect(names({ long: Array.from({ length: 17 }, (_, i) => i) })).toHaveLength(18);
  });

  test("takes in what was logged as attributes, where it has no such name itself", () => {
    const { tree: merged, added } = mergeConfig({ lr: 0.1 }, [
      { path: "config/lr", value: 9 },
      { path: "config/batch", value: 16 },
      { path: "config/batch", value: 32 },
    ]);
    expect(merged).toEqual({ lr: 0.1, batch: 32 });
    expect(configRows(merged, { added }).map(({ fromAttribute }) => fromAttribute)).toEqual([true, false]);
  });

  test("of hostile names is only names", () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as Group;
    expect(names(mergeConfig(hostile, []).tree)).toEqual(["__proto__", "__proto__.polluted", "constructor"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test("every value of any tree is found by its own path", () => {
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)),
    tree: fc.dictionary(
      fc.string({ minLength: 1, maxLength: 5 }),
      fc.oneof({ maxDepth: 3 }, tie("leaf"), tie("tree")),
      { maxKeys: 4 },
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const rows = configRows(value as Group);
      for (const row of rows.filter((one) => !isBranch(one))) {
        const path = row.path.join(".");
        if (path.trim() !== path || path === "") continue;
        expect(names(value as Group, { search: path })).toContain(path);
      }
    }),
  );
});
