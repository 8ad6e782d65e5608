import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createCreateQueue } from "./create-queue.rules.ts";

type Create = { orgId: string; line: string; bytes: number; n: number };
const create = (line: string, n = 0, bytes = 1): Create => ({ orgId: line[0]!, line, bytes, n });
const queueOf = (...creates: Create[]) => {
  const queue = createCreateQueue<Create>({ createsMax: 4, bytesMax: 10 });
  for (const one of creates) queue.add(one);
  return queue;
};
const many = (line: string, count: number) => Array.from({ length: count }, (_, n) => create(line, n));
const named = (group: readonly Create[] | undefined) => group?.map(({ line, n }) => `${line}.${n}`);

describe("the next group", () => {
  test("is undefined when nothing waits", () => {
    expect(queueOf().next()).toBeUndefined();
  });

  test("has creates of one line in their order, and no more than may be", () => {
    const queue = queueOf(...many("a1", 5), create("a2"));
    const first = queue.next()!;
    expect(named(first)).toEqual(["a1.0", "a1.1", "a1.2", "a1.3"]);
    queue.release(first);
    expect(named(queue.next())).toEqual(["a2.0"]);
    expect(named(queue.next())).toEqual(["a1.4"]);
    expect(queue.next()).toBeUndefined();
  });

  test.each([
    ["ends before the create that is too much", [4, 4, 4], ["a1.0", "a1.1"]],
    ["has a single create of any size", [50, 1], ["a1.0"]],
    ["may be filled exactly", [5, 5, 1], ["a1.0", "a1.1"]],
  ])("%s", (_, sizes, wanted) => {
    expect(named(queueOf(...sizes.map((bytes, n) => create("a1", n, bytes))).next())).toEqual(wanted);
  });

  test("is of the organization whose turn it is, however many lines another one has", () => {
    const queue = queueOf(create("a1"), create("a2"), create("a3"), create("b1"), create("b2"));
    const lines = Array.from({ length: 5 }, () => queue.next()?.[0]?.line);
    expect(lines).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  });

  test("is not of a line whose group was taken, until that is released", () => {
    const queue = queueOf(...many("a1", 5));
    const first = queue.next()!;
    queue.add(create("a1", 5));
    queue.add(create("a2"));
    expect(named(queue.next())).toEqual(["a2.0"]);
    expect(queue.next()).toBeUndefined();
    queue.release(first);
    expect(named(queue.next())).toEqual(["a1.4", "a1.5"]);
  });
});

test("every create is in exactly one group, those of a line in their order, whatever happens when", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("add" as const), line: fc.constantFrom("a1", "a2", "b1"), bytes: fc.nat(12) }),
      fc.record({ kind: fc.constantFrom("next" as const, "release" as const) }),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (history) => {
      const queue = queueOf();
      const added = new Map<string, number[]>();
      const groups: (readonly Create[])[] = [];
      const taken: (readonly Create[])[] = [];
      const take = (): boolean => {
        const group = queue.next();
        if (group === undefined) return false;
        groups.push(group);
        taken.push(group);
        expect(taken.filter(([first]) => first!.line === group[0]!.line)).toEqual([group]);
        return true;
      };
      history.forEach((step, n) => {
        if (step.kind === "add") {
          queue.add(create(step.line, n, step.bytes));
          added.set(step.line, [...(added.get(step.line) ?? []), n]);
        } else if (step.kind === "next") take();
        else if (taken.length > 0) queue.release(taken.shift()!);
      });
      while (take() || taken.length > 0) if (taken.length > 0) queue.release(taken.shift()!);
      for (const [line, wanted] of added) {
        const ofLine = groups.filter(([first]) => first!.line === line);
        expect(ofLine.flat().map(({ n }) => n)).toEqual(wanted);
      }
      expect(groups.every((group) => new Set(group.map(({ line }) => line)).size === 1)).toBe(true);
    }),
  );
});
