import { describe, expect, test } from "@jest/globals";
import { createDirtyMarkers } from "./dirty-markers.rules.ts";

const LATER = 60;
const SOON = 5;

function markersAt(remembered = 100) {
  const clock = { ms: 1000 };
  const markers = createDirtyMarkers({
    nowMs: () => clock.ms,
    soonSeconds: SOON,
    laterSeconds: LATER,
    remembered,
  });
  return { clock, markers };
}

describe("of the writes to one thing", () => {
  test("the first leaves a marker for later, every 64th after a marker one for soon, the others none", () => {
    const { markers } = markersAt();
    const left = Array.from({ length: 1 + 64 * 3 }, () => markers.next("a", 10));
    expect(left[0]).toBe(LATER);
    expect(left.flatMap((seconds, i) => (seconds === SOON ? [i] : []))).toEqual([64, 128, 192]);
    expect(left.filter((seconds) => seconds === null)).toHaveLength(63 * 3);
  });

  test("the one that makes 256 KiB leaves one for soon", () => {
    const { markers } = markersAt();
    const size = 64 * 1024;
    expect([1, 2, 3, 4, 5, 6].map(() => markers.next("a", size))).toEqual([LATER, null, null, null, SOON, null]);
  });

  test("one in five minutes leaves a marker however few there are", () => {
    const { markers, clock } = markersAt();
    markers.next("a", 1);
    clock.ms += 299_999;
    expect(markers.next("a", 1)).toBeNull();
    clock.ms += 1;
    expect(markers.next("a", 1)).toBe(LATER);
  });

  test("the next leaves one when the write that was to leave it failed", () => {
    const { markers } = markersAt();
    markers.next("a", 1);
    markers.forget("a");
    expect(markers.next("a", 1)).toBe(LATER);
  });
});

test("each thing has its own markers, and one that was forgotten for lack of memory leaves a marker again", () => {
  const { markers } = markersAt(2);
  expect(["a", "b", "a", "c", "b"].map((what) => markers.next(what, 1))).toEqual([LATER, LATER, null, LATER, LATER]);
});
