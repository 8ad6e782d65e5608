import { describe, expect, test } from "@jest/globals";

import { createStateTable } from "./state-table.ts";

function fill(table: ReturnType<typeof createStateTable>, from: number, to: number): number[] {
  const states: number[] = [];
  for (let i = from; i < to; i++) {
    table.candidate.set([i, -i]);
    states.push(table.intern());
  }
  return states;
}

describe("a table of states", () => {
  test("names a set by the place of its transitions, and the same set alike, however often it has grown", () => {
    const table = createStateTable(2, 3, -1, 1_000_000);
    const states = fill(table, 0, 1_000);
    expect(states).toEqual(Array.from({ length: 1_000 }, (_, i) => i * 3));
    expect(fill(table, 0, 1_000)).toEqual(states);
    expect([table.count, table.generation]).toEqual([1_000, 0]);
    expect(table.sets.subarray(1_998, 2_000)).toEqual(Int32Array.of(999, -999));
  });

  test("keeps transitions, unknown at first, while it grows", () => {
    const table = createStateTable(2, 3, -1, 1_000_000);
    const [first] = fill(table, 0, 1);
    expect(table.next.subarray(0, 3)).toEqual(Int32Array.of(-1, -1, -1));
    table.next[first! + 1] = 42;
    fill(table, 1, 500);
    expect(table.next.subarray(0, 6)).toEqual(Int32Array.of(-1, 42, -1, -1, -1, -1));
  });

  test("drops everything when it is full, and goes on", () => {
    const bytes = 100_000;
    const table = createStateTable(2, 3, -1, bytes);
    fill(table, 0, 20_000);
    expect(table.generation).toBeGreaterThan(2);
    expect(table.count).toBeGreaterThan(0);
    expect(table.next.byteLength + table.sets.byteLength).toBeLessThanOrEqual(bytes);
    expect(table.next.subarray(table.count * 3).every((to) => to === -1)).toBe(true);
    expect(fill(table, 19_999, 20_000)).toEqual([(table.count - 1) * 3]);
  });
});
