import { describe, expect, test } from "@jest/globals";
import { createWriteMarks } from "./write-marks.ts";

const LATER = 60;
const SOON = 5;

function marksAt(remembered = 100) {
  const clock = { ms: 1000 };
  const marks = createWriteMarks({
    nowMs: () => clock.ms,
    soonSeconds: SOON,
    laterSeconds: LATER,
    remembered,
  });
  return { clock, marks };
}

describe("of the writes to one thing", () => {
  test("the first leaves a mark for later, every 64th after a mark one for soon, the others none", () => {
    const { marks } = marksAt();
    const left = Array.from({ length: 1 + 64 * 3 }, () => marks.next("a", 10));
    expect(left[0]).toBe(LATER);
    expect(left.flatMap((seconds, i) => (seconds === SOON ? [i] : []))).toEqual([64, 128, 192]);
    expect(left.filter((seconds) => seconds === null)).toHaveLength(63 * 3);
  });

  test("the one that makes 256 KiB leaves one for soon", () => {
    const { marks } = marksAt();
    const size = 64 * 1024;
    expect([1, 2, 3, 4, 5, 6].map(() => marks.next("a", size))).toEqual([LATER, null, null, null, SOON, null]);
  });

  test("one in five minutes leaves a mark however few there are", () => {
    const { marks, clock } = marksAt();
    marks.next("a", 1);
    clock.ms += 299_999;
    expect(marks.next("a", 1)).toBeNull();
    clock.ms += 1;
    expect(marks.next("a", 1)).toBe(LATER);
  });

  test("the next leaves one when the write that was to leave it failed", () => {
    const { marks } = marksAt();
    marks.next("a", 1);
    marks.forget("a");
    expect(marks.next("a", 1)).toBe(LATER);
  });
});

test("each thing has marks of its own, and one that was forgotten for want of room leaves a mark again", () => {
  const { marks } = marksAt(2);
  expect(["a", "b", "a", "c", "b"].map((what) => marks.next(what, 1))).toEqual([LATER, LATER, null, LATER, LATER]);
});
