import { expect, test } from "@jest/globals";
import { foundKeys } from "./side-by-side.rules.ts";

const key = (runId: string, name: string, kind = "image") => ({ runId, key: name, kind });

test("a key has the runs, the kinds and the steps of all of them", () => {
  const found = [key("b", "z"), key("a", "z", "table"), key("a", "y")];
  const steps = [{ key: "z", steps: [1, 2], cut: true }];
  expect(foundKeys(["a", "b", "c"], found, steps, 3)).toEqual({
    keys: [
      { key: "y", kinds: ["image"], runIds: ["a"], steps: [], stepsTruncated: false },
      { key: "z", kinds: ["image", "table"], runIds: ["a", "b"], steps: [1, 2], stepsTruncated: true },
    ],
    truncated: false,
  });
});

test("keys are truncated where a run has as many as were looked for", () => {
  expect(foundKeys(["a"], [key("a", "x"), key("a", "y")], [], 2).truncated).toBe(true);
  expect(foundKeys(["a"], [], [], 2)).toEqual({ keys: [], truncated: false });
});
