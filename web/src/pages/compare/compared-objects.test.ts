import { expect, test } from "@jest/globals";
import type { RichObject } from "../../media/steps.ts";
import { comparedObjects } from "./compared-objects.ts";

const object = (id: number, key: string): RichObject => ({ id, key }) as RichObject;

test("objects of runs are side by side by key, with a gap where a run has none", () => {
  const byRun = new Map([
    ["a", [object(1, "samples"), object(2, "samples"), object(3, "__proto__")]],
    ["b", [object(4, "eval"), object(5, "samples")]],
  ]);
  const rows = comparedObjects(["b", "unread", "a"], byRun);
  expect(rows.map(({ key, ofRuns }) => [key, ofRuns.map((all) => all.map(({ id }) => id))])).toEqual([
    ["__proto__", [[], [], [3]]],
    ["eval", [[4], [], []]],
    ["samples", [[5], [], [1, 2]]],
  ]);
  expect(comparedObjects([], byRun)).toEqual([]);
});
