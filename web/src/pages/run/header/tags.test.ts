import { expect, test } from "@jest/globals";
import { tagsOf } from "./tags.ts";

test("tags of a run and of its training are shown once, own ones first", () => {
  const attributes = [
    { path: "sys/tags", value: "sweep" },
    { path: "sys/tags", value: "base" },
    { path: "sys/group_tags", value: ["group", 3, ""] },
    { path: "other", value: "no" },
  ];
  expect(tagsOf(["base", "base"], attributes)).toEqual([
    { tag: "base", isOwn: true },
    { tag: "sweep", isOwn: false },
    { tag: "group", isOwn: false },
  ]);
});
