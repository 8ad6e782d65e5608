import { describe, expect, test } from "@jest/globals";
import { runNameWords } from "./run-name.ts";

describe("the words of a run name", () => {
  test("are an adjective and a noun, always the same for one id", () => {
    const id = "01234567-89ab-7def-8123-456789abcdef";
    expect(runNameWords(id)).toMatch(/^[a-z]+-[a-z]+$/);
    expect(runNameWords(id)).toBe(runNameWords(id));
  });

  test("differ among the ids of one moment", () => {
    const ids = Array.from(
      { length: 200 },
      (_, i) => `0192a000-0000-7000-8000-0000${(i * 0x9e3779b1).toString(16).slice(-8).padStart(8, "0")}`,
    );
    expect(new Set(ids.map(runNameWords)).size).toBeGreaterThan(100);
  });
});
