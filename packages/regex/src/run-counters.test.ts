import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createRunCounters, mayRun, readRuns, resetRuns } from "./run-counters.ts";

type Run = { enter: number; exit: number; min: number; max: number; members: Uint8Array };

/** The exits after the last of the classes, straight from the definition: some beginning is complete, and all since belong. */
function exitsOf(runs: readonly Run[], classes: readonly number[], entered: readonly number[]): number {
  const at = classes.length - 1;
  return runs.reduce((exits, { enter, exit, min, max, members }) => {
    const complete = classes.some((_, begin) => {
      const length = at - begin + 1;
      const belongs = classes.slice(begin).every((cls) => members[cls] === 1);
      return belongs && length >= min && length <= max && (entered[begin]! & enter) !== 0;
    });
    return complete ? exits | exit : exits;
  }, 0);
}

const bounds = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat(5)).map(([min, more]) => ({ min, max: min + more })),
  fc.integer({ min: 1, max: 9 }).map((min) => ({ min, max: Infinity })),
);
const members = fc.constantFrom([1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]);

describe("counted runs", () => {
  test("are complete when one of their beginnings is, through any characters", () => {
    const runs = fc.array(fc.tuple(bounds, members), { minLength: 1, maxLength: 3 });
    const text = fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 1, 2), fc.nat(7)), { maxLength: 60 });
    fc.assert(
      fc.property(runs, text, (given, characters) => {
        const list = given.map(([limits, own], i) => ({
          ...limits,
          members: Uint8Array.from(own),
          enter: 1 << i,
          exit: 8 << i,
        }));
        const counters = createRunCounters(list, 3);
        const classes: number[] = [];
        const entered: number[] = [];
        characters.forEach(([cls, bits], at) => {
          const possible = list.reduce((all, run) => (run.members[cls] === 1 ? all | run.enter : all), 0);
          classes.push(cls);
          entered.push(bits & possible);
          if (!mayRun(counters, at)) resetRuns(counters, at);
          expect(readRuns(counters, cls, at, bits & possible)).toBe(exitsOf(list, classes, entered));
        });
      }),
    );
  });

  test("may go on until they are too long or broken off", () => {
    const counters = createRunCounters([{ enter: 1, exit: 2, min: 2, max: 3, members: Uint8Array.of(1, 0) }], 2);
    expect(mayRun(counters, 0)).toBe(false);
    readRuns(counters, 0, 0, 1);
    expect([mayRun(counters, 0), mayRun(counters, 2), mayRun(counters, 3)]).toEqual([true, true, false]);
    readRuns(counters, 1, 1, 0);
    expect(mayRun(counters, 1)).toBe(false);
  });
});
