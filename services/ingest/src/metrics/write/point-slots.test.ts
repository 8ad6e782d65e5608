import { expect, test } from "@jest/globals";
import { createPointSlots } from "./point-slots.rules.ts";

test.each([0, 0.5, 0.999_999])("all sixteen counters take turns, from a random one on (%d)", (random) => {
  const slots = createPointSlots(() => random);
  const first = Array.from({ length: 16 }, () => slots.next());
  expect(first.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, slot) => slot));
  expect(first[0]).toBe((Math.floor(random * 16) + 1) % 16);
  expect(Array.from({ length: 16 }, () => slots.next())).toEqual(first);
});
