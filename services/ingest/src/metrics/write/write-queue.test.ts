import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createWriteQueue } from "./write-queue.rules.ts";

type Write = { orgId: string; runId: string; bytes: number; n: number };
const write = (runId: string, n = 0, bytes = 1, orgId = runId[0]!): Write => ({ orgId, runId, bytes, n });
const queueOf = (...writes: Write[]) => {
  const queue = createWriteQueue<Write>({ writesMax: 4, bytesMax: 10 });
  for (const one of writes) queue.add(one);
  return queue;
};
const named = (group: readonly Write[] | undefined) => group?.map(({ runId, n }) => `${runId}.${n}`);

describe("the next group", () => {
  test("is undefined when nothing waits", () => {
    expect(queueOf().next()).toBeUndefined();
  });

  test("has the writes of one organization, and the next group those of the next", () => {
    const queue = queueOf(write("a1"), write("b1"), write("a2"));
    expect(named(queue.next())).toEqual(["a1.0", "a2.0"]);
    expect(named(queue.next())).toEqual(["b1.0"]);
    expect(queue.next()).toBeUndefined();
  });

  test("has those of a run in their order, and no more than may be", () => {
    const queue = queueOf(...[1, 2, 3, 4, 5].map((n) => write("a1", n)));
    const group = queue.next()!;
    expect(named(group)).toEqual(["a1.1", "a1.2", "a1.3", "a1.4"]);
    // The run is taken until its group is released.
    expect(queue.next()).toBeUndefined();
    queue.release(group);
    expect(named(queue.next())).toEqual(["a1.5"]);
  });

  test.each([
    ["ends before the write that is too much", [4, 4, 4], ["a0.0", "a1.1"]],
    ["has a single write of any size", [50, 1], ["a0.0"]],
    ["may be filled exactly", [5, 5, 1], ["a0.0", "a1.1"]],
  ])("%s", (_, sizes, wanted) => {
    expect(named(queueOf(...sizes.map((bytes, i) => write(`a${i}`, i, bytes))).next())).toEqual(wanted);
  });

  test("gives a run its turn after the others", () => {
    const queue = queueOf(write("a1", 1), write("a1", 2), write("a1", 3), write("a1", 4), write("a1", 5), write("a2"));
    const first = queue.next()!;
    queue.release(first);
    expect(named(queue.next())).toEqual(["a2.0", "a1.5"]);
  });

  test("leaves out runs that are taken, and takes what came for them later", () => {
    const queue = queueOf(write("a1", 1));
    const first = queue.next()!;
    queue.add(write("a1", 2));
    queue.add(write("a2", 3));
    expect(named(queue.next())).toEqual(["a2.3"]);
    queue.release(first);
    expect(named(queue.next())).toEqual(["a1.2"]);
  });
});

test("whatever arrives in whatever order, every write is taken once, in the order of its run, and no run by two groups", () => {
  const action = fc.oneof(
    fc.record({ add: fc.constantFrom("a1", "a2", "b1", "b2", "c1"), bytes: fc.nat(12) }),
    fc.constant("next" as const),
    fc.constant("release" as const),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const queue = queueOf();
      const flying: (readonly Write[])[] = [];
      const taken: Write[] = [];
      const added: Write[] = [];
      const take = (): boolean => {
        const group = queue.next();
        if (group === undefined) return false;
        expect(new Set(group.map(({ orgId }) => orgId)).size).toBe(1);
        expect(group.length).toBeLessThanOrEqual(4);
        const busy = new Set(flying.flat().map(({ runId }) => runId));
        expect(group.filter(({ runId }) => busy.has(runId))).toEqual([]);
        taken.push(...group);
        flying.push(group);
        return true;
      };
      for (const one of actions) {
        if (one === "next") take();
        else if (one === "release") queue.release(flying.shift() ?? []);
        else {
          const next = write(one.add, added.length, one.bytes);
          added.push(next);
          queue.add(next);
        }
      }
      while (take() || flying.length > 0) if (flying.length > 0) queue.release(flying.shift()!);
      const order = (writes: readonly Write[], runId: string) => writes.filter((each) => each.runId === runId);
      for (const runId of ["a1", "a2", "b1", "b2", "c1"]) expect(order(taken, runId)).toEqual(order(added, runId));
    }),
  );
});
