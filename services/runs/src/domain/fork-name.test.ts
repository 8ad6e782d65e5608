import { describe, expect, test } from "@jest/globals";
import { forkName } from "./fork-name.ts";

describe("the name of a fork", () => {
  test.each([
    ["p", undefined, "fork-of-p"],
    ["p", 0, "fork-of-p-step-0"],
    ["p", 120, "fork-of-p-step-120"],
    ["p", 0.5, "fork-of-p-step-0.5"],
    ["fork-of-p", 1e21, "fork-of-fork-of-p-step-1e+21"],
  ])("of %s at step %s is %s", (parent, step, expected) => expect(forkName(parent, step)).toBe(expected));

  test.each([
    ["x".repeat(1016), undefined, 1024],
    ["x".repeat(1024), undefined, 1024],
    ["x".repeat(1024), 12.5, 1024],
    ["é".repeat(512), undefined, 1024],
    ["é".repeat(512), 1, 1023],
    ["\u{1F600}".repeat(256), 12, 1024],
    ["\u{1F600}".repeat(256), 1, 1023],
  ])("of %s at step %s is cut to whole characters, the step stays", (parent, step, bytes) => {
    const name = forkName(parent, step);
    expect(Buffer.byteLength(name)).toBe(bytes);
    expect(name.isWellFormed()).toBe(true);
    expect(name.startsWith("fork-of-")).toBe(true);
    if (step !== undefined) expect(name.endsWith(`-step-${step}`)).toBe(true);
  });
});
