import { fromBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { ChangeKind, ChangesSchema, type Changes } from "@tidemark/proto/changes/v1/changes";
import {
  CHANGES_SUBJECT,
  startChangePublisher,
  type NotedChange,
  CHANGED_KEYS_MAX,
  mergeChange,
} from "./change-publisher.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const ID = "0123456789ab";
const change = (runId: string, more: Partial<NotedChange> = {}): NotedChange => ({
  orgId: "o",
  projectId: "p",
  runId,
  kind: ChangeKind.POINTS,
  keys: ["a"],
  step: 1,
  ...more,
});

function setUp() {
  const sent: Changes[] = [];
  const bus = { isUp: true };
  const publisher = startChangePublisher({
    bus: {
      announce(subject, data) {
        expect(subject).toBe(CHANGES_SUBJECT);
        expect(data.length).toBeLessThan(512 * 1024);
        if (bus.isUp) sent.push(fromBinary(ChangesSchema, data));
        return bus.isUp;
      },
    },
    id: ID,
    steadyMs: () => performance.now(),
  });
  return {
    publisher,
    sent,
    bus,
    pass: (ms: number): void => {
      jest.advanceTimersByTime(ms);
    },
  };
}

/** Whether each message names the one before it. */
const isChained = (sent: readonly Changes[]): boolean =>
  sent.every(({ before, tick }, i) => before === (sent[i - 1]?.tick ?? 0) && tick > before);

test("the first message is empty and names none before it, and one follows each second", () => {
  const { sent, pass } = setUp();
  expect(sent).toMatchObject([{ publisher: ID, before: 0, changes: [], ended: false }]);
  pass(5000);
  expect(sent).toHaveLength(6);
  expect(isChained(sent)).toBe(true);
});

test("changes of one run and kind share a message, others have their own entries", () => {
  const { publisher, sent, pass } = setUp();
  publisher.note(change("r1"));
  publisher.note(change("r1", { keys: ["b"], step: 4 }));
  publisher.note(change("r1", { kind: ChangeKind.LINES, keys: undefined, step: undefined, line: 3 }));
  publisher.note(change("r2"));
  pass(50);
  expect(sent.at(-1)!.changes).toMatchObject([
    { runId: "r1", kind: ChangeKind.POINTS, keys: ["a", "b"], step: 4 },
    { runId: "r1", kind: ChangeKind.LINES, keys: [], line: 3 },
    { runId: "r2" },
  ]);
});

test("a first change is sent immediately, and many are sent with at most twenty messages a second", () => {
  const { publisher, sent, pass } = setUp();
  pass(500);
  publisher.note(change("r"));
  pass(1);
  expect(sent).toHaveLength(2);
  for (let i = 0; i < 1000; i++) {
    publisher.note(change("r", { step: i }));
    pass(1);
  }
  expect(sent.length).toBeLessThanOrEqual(2 + 21);
  expect(isChained(sent)).toBe(true);
  pass(50);
  expect(sent.at(-1)!.changes[0]!.step).toBe(999);
});

test("while the bus is down changes wait, merged, and the chain continues without a gap", () => {
  const { publisher, sent, bus, pass } = setUp();
  bus.isUp = false;
  for (let i = 0; i < 100; i++) {
    publisher.note(change(`r${i % 2}`, { step: i }));
    pass(100);
  }
  expect(sent).toHaveLength(1);
  bus.isUp = true;
  pass(1000);
  expect(sent[1]!.changes).toMatchObject([
    { runId: "r0", step: 98 },
    { runId: "r1", step: 99 },
  ]);
  expect(isChained(sent)).toBe(true);
});

test("more changes than can wait make a gap in the chain", () => {
  const { publisher, sent, bus, pass } = setUp();
  bus.isUp = false;
  for (let i = 0; i < 50_001; i++) publisher.note(change(`r${i}`));
  bus.isUp = true;
  pass(5000);
  expect(sent[1]!.before).not.toBe(sent[0]!.tick);
  expect(isChained(sent.slice(2).map((message, i) => (i === 0 ? { ...message, before: 0 } : message)))).toBe(true);
  expect(new Set(sent.flatMap(({ changes }) => changes.map(({ runId }) => runId))).size).toBe(50_000);
});

test("many changes, and long keys, leave in messages that the bus takes", () => {
  const { publisher, sent, pass } = setUp();
  const keys = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(500, "x"));
  for (let i = 0; i < 1200; i++) publisher.note(change(`r${i}`, i < 20 ? { keys } : {}));
  pass(1000);
  expect(sent.flatMap(({ changes }) => changes)).toHaveLength(1200);
  expect(Math.max(...sent.map(({ changes }) => changes.length))).toBeLessThanOrEqual(500);
  expect(isChained(sent)).toBe(true);
});

test("more keys than the bound are left out", () => {
  const { publisher, sent, pass } = setUp();
  publisher.note(change("r", { keys: Array.from({ length: 101 }, (_, i) => `k${i}`) }));
  pass(50);
  expect(sent.at(-1)!.changes[0]!.keys).toEqual([]);
});

test("the end announces the rest and that nothing follows", () => {
  const { publisher, sent, pass } = setUp();
  for (let i = 0; i < 600; i++) publisher.note(change(`r${i}`));
  publisher.stop();
  expect(sent.map(({ ended }) => ended)).toEqual([false, false, true]);
  expect(sent.flatMap(({ changes }) => changes)).toHaveLength(600);
  pass(10_000);
  expect(sent).toHaveLength(3);
  expect(isChained(sent)).toBe(true);
});

const noted = (more: Partial<NotedChange>): NotedChange => ({
  orgId: "o",
  projectId: "p",
  runId: "r",
  kind: ChangeKind.POINTS,
  ...more,
});
const names = (count: number, first = 0): string[] => Array.from({ length: count }, (_, i) => `k${first + i}`);

test("two changes make one with all keys, the highest step and the highest line", () => {
  const merged = mergeChange(
    noted({ keys: ["a", "b"], step: 5, line: 1 }),
    noted({ keys: ["b", "c"], step: 3, line: 2 }),
  );
  expect(merged).toEqual(noted({ keys: ["a", "b", "c"], step: 5, line: 2 }));
});

test.each([
  [undefined, 3, 3],
  [3, undefined, 3],
  [undefined, undefined, undefined],
])("of the steps %j and %j, %j is kept", (before, now, kept) => {
  expect(mergeChange(noted({ step: before, keys: ["a"] }), noted({ step: now, keys: ["a"] })).step).toBe(kept);
});

test("a change that adds nothing equals the one before, in any order of its keys", () => {
  const before = noted({ keys: ["a", "b"], step: 5 });
  expect(mergeChange(before, noted({ keys: ["a", "b"], step: 5 }))).toBe(before);
  expect(mergeChange(before, noted({ keys: ["b", "a"], step: 1 }))).toBe(before);
  expect(mergeChange(before, noted({ keys: ["a"] }))).toBe(before);
});

test("more keys than the bound are none, and stay none", () => {
  const most = noted({ keys: names(CHANGED_KEYS_MAX) });
  expect(mergeChange(most, noted({ keys: names(3) })).keys).toHaveLength(CHANGED_KEYS_MAX);
  const none = mergeChange(most, noted({ keys: names(1, CHANGED_KEYS_MAX) }));
  expect(none.keys).toBeUndefined();
  expect(mergeChange(none, noted({ keys: ["a"] })).keys).toBeUndefined();
});
