import { toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { BusMessage } from "@tidemark/bus";
import { ChangesSchema, type Changes } from "@tidemark/proto/changes/v1/changes";
import { createLog } from "@tidemark/telemetry";
import { startChangeFeed } from "./change-feed.ts";
import { messageOf, ORG, PROJECT, PUBLISHERS } from "./change-hub.fixture.ts";
import { projectKey } from "./change-hub.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const [A] = PUBLISHERS;

async function setUp() {
  const bus = { isUp: true, listening: true };
  let receive: (message: BusMessage) => void = () => {};
  let reconnect = (): void => {};
  const feed = await startChangeFeed({
    bus: {
      connected: () => bus.isUp,
      async listen(_, onMessage, onReconnect) {
        receive = onMessage;
        reconnect = onReconnect!;
        return { close: async () => void (bus.listening = false) };
      },
    },
    nowMs: () => performance.now(),
    log: createLog({ level: "silent", service: "test" }),
  });
  const got: string[] = [];
  feed.hub.subscribe(projectKey(ORG, PROJECT), undefined, {
    send: (bytes) => void got.push(bytes.toString()),
    end: () => {},
  });
  return {
    feed,
    bus,
    take: (message: Changes) =>
      receive({ subject: "", id: "", headers: {}, attempt: 1, data: toBinary(ChangesSchema, message) }),
    reconnect: () => reconnect(),
    pass: (ms: number): void => {
      jest.advanceTimersByTime(ms);
    },
    resets: () => got.join("").split("event: reset").length - 1,
    points: () => got.join("").split("event: points").length - 1,
  };
}

test("announced changes reach the subscribers", async () => {
  const { take, pass, points, resets } = await setUp();
  take(messageOf(A, 0, 1, [{ runId: "r" }]));
  pass(1);
  expect([points(), resets()]).toEqual([1, 0]);
});

test("a publisher that falls silent resets all streams within nine seconds, once", async () => {
  const { take, pass, resets } = await setUp();
  take(messageOf(A, 0, 1));
  pass(7900);
  expect(resets()).toBe(0);
  pass(1000);
  expect(resets()).toBe(1);
  pass(60_000);
  expect(resets()).toBe(1);
});

test("without the bus all streams are reset every five seconds, and no publisher counts as silent", async () => {
  const { take, pass, resets, bus, reconnect, points } = await setUp();
  take(messageOf(A, 0, 1));
  bus.isUp = false;
  pass(5500);
  expect(resets()).toBe(1);
  pass(10_000);
  expect(resets()).toBe(3);
  bus.isUp = true;
  reconnect();
  take(messageOf(A, 1, 20_000, [{ runId: "r" }]));
  pass(3000);
  expect([resets(), points()]).toEqual([3, 1]);
});

test("a process that was held up does not take others for dead", async () => {
  const { take, pass, resets } = await setUp();
  take(messageOf(A, 0, 1));
  pass(500);
  jest.setSystemTime(Date.now() + 60_000);
  const now = performance.now.bind(performance);
  jest.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  pass(500);
  take(messageOf(A, 1, 61_000));
  pass(3000);
  expect(resets()).toBe(0);
});

test("once stopped it listens no more", async () => {
  const { feed, bus } = await setUp();
  await feed.stop();
  expect(bus.listening).toBe(false);
});
