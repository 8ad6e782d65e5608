import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createGroupQueue } from "./group-queue.rules.ts";

type Item = { orgId: string; line: string; bytes: number; n: number };
/** An item of a line, whose organization is its first letter. */
const item = (line: string, n = 0, bytes = 1): Item => ({ orgId: line.charAt(0), line, bytes, n });
const queueOf = (items: readonly Item[], linesMax = 100) => {
  const queue = createGroupQueue<Item>({ lineOf: ({ line }) => line, itemsMax: 4, bytesMax: 10, linesMax });
  for (const one of items) queue.add(one);
  return queue;
};
const many = (line: string, count: number) => Array.from({ length: count }, (_, n) => item(line, n));
const named = (group: readonly Item[] | undefined) => group?.map(({ line, n }) => `${line}.${n}`);

describe("the next group", () => {
  test("is undefined when nothing waits", () => {
    expect(queueOf([]).next()).toBeUndefined();
  });

  test("has the items of one organization, and the next group those of the next", () => {
    const queue = queueOf([item("a1"), item("b1"), item("a2")]);
    expect(named(queue.next())).toEqual(["a1.0", "a2.0"]);
    expect(named(queue.next())).toEqual(["b1.0"]);
    expect(queue.next()).toBeUndefined();
  });

  test("has those of a line in their order, and no more than may be", () => {
    const queue = queueOf(many("a1", 5));
    const group = queue.next()!;
    expect(named(group)).toEqual(["a1.0", "a1.1", "a1.2", "a1.3"]);
    // The line is taken until its group is released.
    expect(queue.next()).toBeUndefined();
    queue.release(group);
    expect(named(queue.next())).toEqual(["a1.4"]);
  });

  test.each([
    ["ends before the item that is too much", [4, 4, 4], ["a0.0", "a1.1"]],
    ["has a single item of any size", [50, 1], ["a0.0"]],
    ["may be filled exactly", [5, 5, 1], ["a0.0", "a1.1"]],
  ])("%s", (_, sizes, wanted) => {
    expect(named(queueOf(sizes.map((bytes, i) => item(`a${i}`, i, bytes))).next())).toEqual(wanted);
    // The same for one line.
    const ofLine = queueOf(sizes.map((bytes, i) => item("a", i, bytes))).next();
    expect(ofLine).toHaveLength(wanted.length);
  });

  test("gives a line its turn after the others", () => {
    const queue = queueOf([...many("a1", 5), item("a2")]);
    queue.release(queue.next()!);
    expect(named(queue.next())).toEqual(["a2.0", "a1.4"]);
  });

  test("leaves out lines that are taken, and takes what came for them later", () => {
    const queue = queueOf([item("a1", 1)]);
    const first = queue.next()!;
    queue.add(item("a1", 2));
    queue.add(item("a2", 3));
    expect(named(queue.next())).toEqual(["a2.3"]);
    queue.release(first);
    expect(named(queue.next())).toEqual(["a1.2"]);
  });

  test("is of as many lines as may be, those of an organization in turns with others", () => {
    const queue = queueOf([item("a1"), item("a2"), item("a3"), item("b1"), item("b2")], 1);
    const groups = Array.from({ length: 5 }, () => named(queue.next()));
    expect(groups).toEqual([["a1.0"], ["b1.0"], ["a2.0"], ["b2.0"], ["a3.0"]]);
  });
});

test.each([1, 2, 100])(
  "of at most %d lines: any items in any order are each taken once, in the order of its line, and no line by two groups",
  (linesMax) => {
    const lines = ["a1", "a2", "b1", "b2", "c1"];
    const action = fc.oneof(
      fc.record({ add: fc.constantFrom(...lines), bytes: fc.nat(12) }),
      fc.constant("next" as const),
      fc.constant("release" as const),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const queue = queueOf([], linesMax);
        const flying: (readonly Item[])[] = [];
        const taken: Item[] = [];
        const added: Item[] = [];
        const take = (): boolean => {
          const group = queue.next();
          if (group === undefined) return false;
          expect(new Set(group.map(({ orgId }) => orgId)).size).toBe(1);
          expect(new Set(group.map(({ line }) => line)).size).toBeLessThanOrEqual(linesMax);
          expect(group.length).toBeLessThanOrEqual(4);
          const busy = new Set(flying.flat().map(({ line }) => line));
          expect(group.filter(({ line }) => busy.has(line))).toEqual([]);
          taken.push(...group);
          flying.push(group);
          return true;
        };
        for (const one of actions) {
          if (one === "next") take();
          else if (one === "release") queue.release(flying.shift() ?? []);
          else {
            const next = item(one.add, added.length, one.bytes);
            added.push(next);
            queue.add(next);
          }
        }
        while (take() || flying.length > 0) if (flying.length > 0) queue.release(flying.shift()!);
        const ofLine = (items: readonly Item[], line: string) => items.filter((each) => each.line === line);
        for (const line of lines) expect(ofLine(taken, line)).toEqual(ofLine(added, line));
      }),
    );
  },
);
