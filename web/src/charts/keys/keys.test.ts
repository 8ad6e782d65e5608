import { describe, expect, test } from "@jest/globals";
import { inOrder, movedInto, movedTo, orderWith, sectionNameOf } from "./order.ts";
import { readKeys } from "./use-catalogue.ts";
import { keyMatch, keyTree, openAtFirst, sectionsOf } from "./sections.ts";

describe("a search for keys", () => {
  const keys = ["train/Loss", "train/acc", "eval/loss", "lr"];
  const found = (search: string): string[] => keys.filter(keyMatch(search).test);

  test.each<[string, string[]]>([
    ["", keys],
    ["loss", ["train/Loss", "eval/loss"]],
    ["loss train", ["train/Loss"]],
    ["re:/^eval/", ["eval/loss"]],
    ["/acc$|^lr/", ["train/acc", "lr"]],
    ["(", []],
  ])("%j finds", (search, expected) => {
    expect(found(search)).toEqual(expected);
  });

  test.each([
    ["re:/(/", "This is not a valid regular expression."],
    ["re:/(a+)+$/", "A pattern cannot repeat a group that repeats, such as (a+)+."],
    [`/${"a".repeat(129)}/`, "A pattern has at most 128 characters."],
  ])("%s has a fault and hides nothing", (search, fault) => {
    expect(keyMatch(search).fault).toBe(fault);
    expect(found(search)).toEqual(keys);
  });
});

test("sections have the part before the first slash; what models are judged by is first, machines last, numbers in their order", () => {
  const keys = ["system/gpu", "train/b", "train/a", "loss", "/odd", "layer/10", "layer/2", "test/a", "Eval/a", "val/a"];
  expect(sectionsOf(keys)).toEqual([
    { name: "val", keys: ["val/a"] },
    { name: "Eval", keys: ["Eval/a"] },
    { name: "test", keys: ["test/a"] },
    { name: "train", keys: ["train/a", "train/b"] },
    { name: "", keys: ["/odd", "loss"] },
    { name: "layer", keys: ["layer/2", "layer/10"] },
    { name: "system", keys: ["system/gpu"] },
  ]);
});

test("sections are open until there are enough charts", () => {
  expect(openAtFirst([1, 10, 30, 2], 12)).toEqual([true, true, true, false]);
  expect(openAtFirst([12, 1], 12)).toEqual([true, false]);
});

test("charts stay where a person moved them, and new keys come behind", () => {
  const keys = ["a/1", "a/2", "a/3", "a/10"];
  const shown = movedTo(keys, "a/10", 1);
  expect(shown).toEqual(["a/1", "a/10", "a/2", "a/3"]);
  const order = orderWith(["b/2", "a/3"], shown);
  expect(order).toEqual(["b/2", ...shown]);
  expect(inOrder([...keys, "a/4"], order)).toEqual([...shown, "a/4"]);
  expect(orderWith(order, movedTo(shown, "a/10", 9))).toEqual(["b/2"]);
  expect(orderWith([], movedTo(keys, "a/2", 0))).toEqual(["a/2", "a/1"]);
});

test("charts are in the sections that a person moved them to, also new ones", () => {
  const moved = movedInto(movedInto([], "train/acc", "val"), "loss", "mine");
  expect(moved).toEqual([
    ["train/acc", "val"],
    ["loss", "mine"],
  ]);
  expect(sectionsOf(["loss", "train/acc", "train/loss", "val/acc"], moved)).toEqual([
    { name: "val", keys: ["train/acc", "val/acc"] },
    { name: "train", keys: ["train/loss"] },
    { name: "mine", keys: ["loss"] },
  ]);
  expect(movedInto(moved, "train/acc", "train")).toEqual([["loss", "mine"]]);
  expect(movedInto(moved, "loss", "")).toEqual([["train/acc", "val"]]);
  const many = Array.from({ length: 101 }, (_, i) => `a/${i}`).reduce<typeof moved>(
    (all, key) => movedInto(all, key, "b"),
    [],
  );
  expect([many.length, many[0]]).toEqual([100, ["a/1", "b"]]);
  expect([sectionNameOf(" my/own "), sectionNameOf("/")]).toEqual(["my own", ""]);
});

test("the tree of keys counts what is below, also where a key is a part of another", () => {
  const [a, b] = keyTree(["a/x", "a", "a/y/z", "b"]);
  expect(a).toMatchObject({
    name: "a",
    key: "a",
    count: 3,
    children: [
      { name: "x", count: 1 },
      { name: "y", key: undefined, count: 1 },
    ],
  });
  expect(b).toMatchObject({ name: "b", key: "b", count: 1, children: [] });
});

test("keys are reported after the first page and at the end, for any number of pages", async () => {
  const usual = globalThis.fetch;
  globalThis.fetch = (async (path: string) => {
    const page = Number(new URL(path, "http://server").searchParams.get("cursor") ?? 0);
    const keys = [{ name: `key ${page}`, kind: "metric", run_count: 1 }];
    return Response.json({ keys, next_cursor: page < 4 ? String(page + 1) : null });
  }) as typeof fetch;
  const told: number[] = [];
  const asked = { projectId: "p", kind: "metric", signal: new AbortController().signal } as const;
  try {
    await readKeys(asked, (keys) => told.push(keys.length));
    await readKeys({ ...asked, pagesMax: 1 }, (keys) => told.push(keys.length));
  } finally {
    globalThis.fetch = usual;
  }
  expect([told[0], told.at(-2), told.at(-1)]).toEqual([1, 5, 1]);
  expect(told.length).toBeLessThan(6);
});
