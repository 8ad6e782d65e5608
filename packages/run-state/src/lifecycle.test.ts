import { describe, expect, test } from "@jest/globals";

import { appendLifecycle, LIFECYCLE_ENTRIES_MAX } from "./lifecycle.ts";

describe("the lifecycle list", () => {
  test("takes an entry at its end and leaves the given list alone", () => {
    const before = ["a"];
    expect(appendLifecycle(before, "b")).toEqual(["a", "b"]);
    expect(before).toEqual(["a"]);
  });

  test("keeps the newest twenty entries", () => {
    expect(LIFECYCLE_ENTRIES_MAX).toBe(20);
    const full = Array.from({ length: 20 }, (_, i) => i);
    expect(appendLifecycle(full, 20)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });
});
