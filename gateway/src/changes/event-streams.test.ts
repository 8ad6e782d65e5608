import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createTestHub, messageOf, ORG, PROJECT, PUBLISHERS } from "./change-hub.fixture.ts";
import { CALLER_STREAMS_MAX, createEventStreams } from "./event-streams.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const [A] = PUBLISHERS;

/** Stands in for the connection of a client, which reads nothing while `writableLength` is above zero. */
class FakeAnswer extends EventEmitter {
  got = "";
  writableLength = 0;
  destroyed = false;
  ended = false;
  write(bytes: Buffer): void {
    this.got += bytes.toString();
  }
  end(): void {
    this.ended = true;
    this.emit("close");
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function setUp(connectionsMax = 10_000) {
  const hub = createTestHub();
  const streams = createEventStreams({ hub: hub.hub, connectionsMax });
  const open = (credentialId = "k", orgId = ORG, lastEventId?: string) =>
    streams.open({
      identity: create(IdentitySchema, { orgId, kind: CallerKind.API_KEY, credentialId, scopes: ["export:read"] }),
      projectId: PROJECT,
      lastEventId,
    });
  const start = (...how: Parameters<typeof open>): FakeAnswer => {
    const answer = new FakeAnswer();
    open(...how).start(answer as unknown as ServerResponse);
    return answer;
  };
  return {
    ...hub,
    streams,
    open,
    start,
    seconds: (count: number): void => {
      jest.advanceTimersByTime(count * 1000);
    },
  };
}

test("a comment is sent every 15 seconds, whenever a stream began", () => {
  const { start, seconds } = setUp();
  const answers: FakeAnswer[] = [];
  for (let i = 0; i < 40; i++) {
    answers.push(start());
    seconds(1);
  }
  for (const answer of answers) answer.got = "";
  seconds(15);
  expect(answers.map(({ got }) => got.split(": alive").length - 1)).toEqual(answers.map(() => 1));
});

test("a caller has at most 100 streams, and another key has its own", () => {
  const { start, open, streams } = setUp();
  const answers = Array.from({ length: CALLER_STREAMS_MAX }, () => start());
  expect(CALLER_STREAMS_MAX).toBe(100);
  expect(() => open()).toThrow(expect.objectContaining({ reason: "rate_limit_exceeded" }));
  start("other");
  answers[0]!.end();
  start();
  expect(() => open()).toThrow(expect.objectContaining({ reason: "rate_limit_exceeded" }));
  expect(streams.count()).toBe(101);
});

test("an organization has a quarter of the connections, and all have three quarters", () => {
  const { open } = setUp(800);
  for (let i = 0; i < 200; i++) open(`k${i % 3}`);
  expect(() => open("k9")).toThrow(expect.objectContaining({ reason: "rate_limit_exceeded" }));
  for (let i = 0; i < 400; i++) open(`o${i % 8}`, `org${i % 4}`);
  expect(() => open("p", "another")).toThrow(expect.objectContaining({ reason: "service_unavailable" }));
});

test("a place that is given up, or whose client has left already, is free", () => {
  const { open, streams } = setUp();
  open().giveUp();
  const gone = new FakeAnswer();
  gone.destroyed = true;
  open().start(gone as unknown as ServerResponse);
  expect([streams.count(), gone.got]).toEqual([0, ""]);
});

test("a client that does not read is disconnected: immediately when much waits, at the second comment when little does", () => {
  const { start, hub, pass, seconds } = setUp();
  const [slow, stuck, fine] = [start(), start(), start()];
  hub.take(messageOf(A, 0, 1));
  slow.writableLength = 256 * 1024 + 1;
  hub.take(messageOf(A, 1, 2, [{ runId: "r" }]));
  pass(0);
  expect([slow.destroyed, stuck.destroyed, fine.got.includes("event: points")]).toEqual([true, false, true]);
  stuck.writableLength = 1;
  seconds(15);
  expect(stuck.destroyed).toBe(false);
  seconds(15);
  expect([stuck.destroyed, fine.destroyed]).toEqual([true, false]);
});

test("all end when the process drains, and those that begin later too", () => {
  const { start, streams } = setUp();
  const before = start();
  streams.endAll();
  expect([before.ended, start().ended, streams.count()]).toEqual([true, true, 0]);
});
