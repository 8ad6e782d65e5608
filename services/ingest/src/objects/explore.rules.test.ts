import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { mergeWalks, readObjectCursor, writeObjectCursor, type WalkedObject } from "./explore.rules.ts";

const T = "2026-01-01T00:00:00";

const objectOf = (walk: number, step: number, id: number, more: Partial<WalkedObject> = {}): WalkedObject => ({
  walk,
  step,
  id,
  createdAt: `${T}Z`,
  bytes: 1,
  matches: true,
  stopped: false,
  ...more,
});

describe("a page of walks", () => {
  test("is by step, then by time, then by id, each descending", () => {
    const walked = [
      objectOf(1, 2, 1),
      objectOf(1, 2, 3),
      objectOf(1, 2, 2, { createdAt: `${T}.5Z` }),
      objectOf(2, 2, 4, { createdAt: `${T}.25Z` }),
      objectOf(2, Number.NEGATIVE_INFINITY, 9),
      objectOf(3, 7, 5),
    ];
    expect(mergeWalks(walked, 10, 4)).toEqual({ ids: [5, 2, 4, 3, 1, 9], after: undefined });
  });

  test("of many walks has the first of all", () => {
    const walked = Array.from({ length: 6000 }, (_, i) => objectOf(i % 600, (i * 7919) % 6007, i));
    const ids = walked.toSorted((a, b) => b.step - a.step).map(({ id }) => id);
    expect(mergeWalks(walked, 100, 101)).toMatchObject({ ids: ids.slice(0, 100), after: { id: ids[99] } });
  });

  test("ends at its limit, and the next one begins after its last object", () => {
    const walked = [objectOf(1, 3, 1), objectOf(1, 2, 2), objectOf(1, 1, 3)];
    expect(mergeWalks(walked, 2, 3)).toMatchObject({ ids: [1, 2], after: { id: 2 } });
  });

  test("ends at the last object of a walk that may have more", () => {
    const walked = [objectOf(1, 9, 1), objectOf(1, 8, 2), objectOf(2, 7, 3)];
    expect(mergeWalks(walked, 2, 2)).toMatchObject({ ids: [1, 2], after: { id: 2 } });
  });

  test("is empty, with a place to continue, when a walk has looked at what it may without a match", () => {
    const walked = [objectOf(1, 9, 1, { matches: false, stopped: true }), objectOf(2, 7, 3)];
    expect(mergeWalks(walked, 2, 3)).toMatchObject({ ids: [], after: { id: 1 } });
  });

  test("ends before its bytes exceed 16 MiB, after one object at least", () => {
    const large = { bytes: 9 * 2 ** 20 };
    const walked = [objectOf(1, 3, 1, large), objectOf(1, 2, 2, large)];
    expect(mergeWalks(walked, 2, 3)).toMatchObject({ ids: [1], after: { id: 1 } });
    expect(mergeWalks([objectOf(1, 3, 1, { bytes: 2 ** 25 })], 2, 3)).toEqual({ ids: [1], after: undefined });
  });

  test("of nothing is empty and the last one", () => {
    expect(mergeWalks([], 2, 3)).toEqual({ ids: [], after: undefined });
  });
});

test("pages show every match once, in order, however few objects a walk may look at", () => {
  const walks = fc.array(fc.array(fc.record({ step: fc.nat(5), matches: fc.boolean() }), { maxLength: 12 }), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(walks, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 8 }), (shapes, limit, looksMax) => {
      let id = 0;
      const inOrder = (a: WalkedObject, b: WalkedObject): number => b.step - a.step || b.id - a.id;
      const stored = shapes.map((walk, i) =>
        walk.map((object) => objectOf(i, object.step, id++, object)).toSorted(inOrder),
      );
      const seen: number[] = [];
      let after: { step: number; id: number } | undefined;
      do {
        // Like the statement: a walk ends after this many looks, or this many objects.
        const walked = stored.flatMap((walk) =>
          walk
            .filter((object) => after === undefined || inOrder(object, after as WalkedObject) > 0)
            .slice(0, looksMax)
            .map((object, i) => ({ ...object, stopped: i === looksMax - 1 }))
            .filter(({ matches, stopped }) => matches || stopped)
            .slice(0, limit + 1),
        );
        const page = mergeWalks(walked, limit, limit + 1);
        expect(page.ids.length).toBeLessThanOrEqual(limit);
        seen.push(...page.ids);
        after = page.after;
      } while (after !== undefined);
      const all = stored.flat().filter(({ matches }) => matches);
      expect(seen).toEqual(all.toSorted(inOrder).map((object) => object.id));
    }),
  );
});

const position = { step: 2.5, createdAt: "2026-01-05T10:00:00.123456Z", id: 18 };

test.each([
  ["a step", position],
  ["no step", { ...position, step: Number.NEGATIVE_INFINITY }],
  ["a time without a fraction", { ...position, createdAt: "2026-01-05T10:00:00Z" }],
])("the cursor of an object with %s is read as it was written", (_, one) => {
  expect(readObjectCursor(writeObjectCursor(one))).toEqual(one);
});

const cursorOf = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString("base64url");

test.each([
  ["fields too few", cursorOf([1, position.createdAt])],
  ["a negative step", cursorOf([-1, position.createdAt, 1])],
  ["a step that is a text", cursorOf(["1", position.createdAt, 1])],
  ["a time that no calendar has", cursorOf([1, "2026-02-30T10:00:00Z", 1])],
  ["a time that is none", cursorOf([1, "infinity", 1])],
  ["an id with a fraction", cursorOf([1, position.createdAt, 1.5])],
])("a cursor with %s is refused", (_, cursor) => {
  expect(() => readObjectCursor(cursor)).toThrow(
    expect.objectContaining({ reason: "object_explorer_invalid", field: "cursor" }),
  );
});
