import { describe, expect, test } from "@jest/globals";
import { compareKeyBytes } from "@tidemark/metric-codec";
import fc from "fast-check";
import { createFirstKeys } from "./first-keys.ts";
import { createFirstPoints } from "./first-points.ts";

const NONE = Number.NaN;

describe("the first points of a series", () => {
  test("are those with the lowest steps, in the order of arrival where steps are equal, whatever came when", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 8 }), fc.nat(8), (arrivals, capacity, max) => {
        const first = createFirstPoints(capacity);
        arrivals.forEach((step, arrival) => {
          first.add(step, arrival, 1000 + arrival, NONE);
        });
        // toSorted is stable: equal steps stay in the order of arrival.
        const wanted = arrivals.map((step, arrival) => ({ step, arrival })).toSorted((a, b) => a.step - b.step);
        expect(first.count()).toBe(Math.min(capacity, arrivals.length));
        const taken = first.take(Math.min(max, capacity));
        const expected = wanted.slice(0, Math.min(max, capacity));
        expect([...taken.steps]).toEqual(expected.map(({ step }) => step));
        expect([...taken.values]).toEqual(expected.map(({ arrival }) => arrival));
        expect([...taken.createdUs]).toEqual(expected.map(({ arrival }) => 1000 + arrival));
      }),
    );
  });

  test("have no times where none of them has one, though a later point has", () => {
    const first = createFirstPoints(2);
    first.add(2, 0, 0, 77);
    first.add(0, 0, 0, NONE);
    first.add(1, 0, 0, NONE);
    expect([...first.take(1).timestampsUs]).toEqual([]);
  });

  test("have a column of times where one of them has one", () => {
    const first = createFirstPoints(3);
    first.add(0, 0, 0, NONE);
    first.add(1, 0, 0, 77);
    expect([...first.take(2).timestampsUs]).toEqual([NONE, 77]);
  });
});

describe("the first points over all keys", () => {
  test("are those of the lowest keys, whenever the rest is let go", () => {
    const point = fc.record({
      key: fc.constantFrom("a", "b", "c", "\uFF5E", "\u{1F600}"),
      step: fc.integer({ min: 0, max: 5 }),
      prune: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (points, limit) => {
        const first = createFirstKeys(limit + 1);
        points.forEach(({ key, step, prune }, arrival) => {
          first.collector(key)?.add(step, arrival, 0, NONE);
          if (prune) first.prune();
        });
        const { keys, more } = first.take(limit);
        const wanted = points
          .map(({ key, step }, arrival) => ({ key, step, arrival }))
          .toSorted((a, b) => compareKeyBytes(a.key, b.key) || a.step - b.step);
        expect(keys.flatMap(({ key, points: found }) => Array.from(found.values, (arrival) => [key, arrival]))).toEqual(
          wanted.slice(0, limit).map(({ key, arrival }) => [key, arrival]),
        );
        expect(more).toBe(wanted.length > limit);
        expect(keys.every(({ points: found }) => found.steps.length > 0)).toBe(true);
      }),
    );
  });

  test("refuse keys that come too late in the order once enough are known", () => {
    const first = createFirstKeys(2);
    for (const key of ["a", "b", "c"]) first.collector(key)!.add(0, 0, 0, NONE);
    first.prune();
    expect(first.collector("c")).toBeUndefined();
    expect(first.collector("b")).toBeDefined();
  });
});
