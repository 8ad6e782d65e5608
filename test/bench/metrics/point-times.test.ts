import { expect, test } from "@jest/globals";
import { pointTime, pointTimeUs, pointTimeWriter } from "./point-times.ts";

test("times go up with the steps, to the microsecond", () => {
  expect(pointTime(0)).toBe("2026-01-02T03:04:05.678901");
  const times = Array.from({ length: 2000 }, (_, step) => pointTimeUs(step));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(new Set(times.map((time) => time % 1000)).size).toBeGreaterThan(500);
});

test("a writer writes the texts of any steps in any order", () => {
  const write = pointTimeWriter('at "', '+00:00"');
  for (const step of [0, 1, 2, 599, 600, 1_000_000, 3, 543, 544]) {
    const target = Buffer.alloc(50, "-");
    const wanted = `-at "${pointTime(step)}+00:00"`;
    expect(write(target, 1, step)).toBe(wanted.length);
    expect(target.toString("latin1")).toBe(wanted.padEnd(50, "-"));
  }
});
