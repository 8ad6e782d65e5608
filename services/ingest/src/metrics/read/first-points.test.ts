import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createFirstPoints, type FirstPoints } from "./first-points.rules.ts";

const NONE = Number.NaN;
const everywhere = { startStep: undefined, endStep: undefined };

/** Adds one point that was received at `receivedUs`. */
function addPoint(first: FirstPoints, step: number, value: number, receivedUs = 0, timestampUs = NONE): void {
  const timestampsUs = Number.isNaN(timestampUs) ? new Float64Array(0) : Float64Array.of(timestampUs);
  first.add({ steps: Float64Array.of(step), values: Float64Array.of(value), receivedUs, timestampsUs });
}

describe("the first points of a series", () => {
  test("are those within the range with the lowest steps, in the order of arrival where steps are equal, in any grouping", () => {
    const pieces = fc.array(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 20 }), { maxLength: 6 });
    const bound = fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined });
    fc.assert(
      fc.property(
        pieces,
        fc.integer({ min: 1, max: 8 }),
        fc.nat(8),
        bound,
        bound,
        (arrivals, capacity, max, startStep, endStep) => {
          const first = createFirstPoints(capacity, { startStep, endStep });
          let arrived = 0;
          for (const steps of arrivals) {
            const order = Float64Array.from(steps, () => arrived++);
            const receivedUs = order.map((n) => 1000 + n);
            first.add({
              steps: Float64Array.from(steps),
              values: order,
              receivedUs,
              timestampsUs: new Float64Array(0),
            });
          }
          // toSorted is stable: equal steps stay in the order of arrival.
          const wanted = arrivals
            .flat()
            .map((step, arrival) => ({ step, arrival }))
            .filter(({ step }) => step >= (startStep ?? 0) && step <= (endStep ?? Infinity))
            .toSorted((a, b) => a.step - b.step);
          expect(first.count()).toBe(Math.min(capacity, wanted.length));
          const taken = first.take(Math.min(max, capacity));
          const expected = wanted.slice(0, Math.min(max, capacity));
          expect([...taken.steps]).toEqual(expected.map(({ step }) => step));
          expect([...taken.values]).toEqual(expected.map(({ arrival }) => arrival));
          expect([...taken.createdUs]).toEqual(expected.map(({ arrival }) => 1000 + arrival));
        },
      ),
    );
  });

  test("that came in one request share its time of arrival", () => {
    const first = createFirstPoints(3, everywhere);
    first.add({
      steps: Float64Array.of(2, 1),
      values: Float64Array.of(20, 10),
      receivedUs: 7,
      timestampsUs: new Float64Array(0),
    });
    expect([...first.take(2).createdUs]).toEqual([7, 7]);
  });

  test("have no times where none of them has one, though a later point has", () => {
    const first = createFirstPoints(2, everywhere);
    addPoint(first, 2, 0, 0, 77);
    addPoint(first, 0, 0);
    addPoint(first, 1, 0);
    expect([...first.take(1).timestampsUs]).toEqual([]);
  });

  test("have a column of times where one of them has one", () => {
    const first = createFirstPoints(3, everywhere);
    addPoint(first, 0, 0);
    addPoint(first, 1, 0, 0, 77);
    expect([...first.take(2).timestampsUs]).toEqual([NONE, 77]);
  });

  test("can be counted and taken before more arrive", () => {
    const first = createFirstPoints(2, everywhere);
    addPoint(first, 5, 50);
    expect(first.count()).toBe(1);
    addPoint(first, 3, 30);
    addPoint(first, 4, 40);
    expect([...first.take(2).values]).toEqual([30, 40]);
  });
});
