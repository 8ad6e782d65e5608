import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { createTestHub, messageOf, ORG, PROJECT, PUBLISHERS, type TestHub } from "./change-hub.fixture.ts";
import { EVENTS_MAX, projectKey } from "./change-hub.ts";

const [A, B] = PUBLISHERS;
const OTHER = "0a1b2c3d-0000-4000-8000-00000000000b";

type Event = { id: string; event: string; data: { run_id?: string; keys?: string[]; step?: number } };

/** The events in texts that a subscriber got. */
function eventsIn(got: readonly string[]): Event[] {
  return got
    .join("")
    .split("\n\n")
    .filter((block) => block.includes("\ndata: "))
    .map((block) => {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      return { id: fields["id"], event: fields["event"], data: JSON.parse(fields["data"]) };
    });
}

function idAtEnd(got: readonly string[]): string {
  return [...got.join("").matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
}

/** A hub that knows two publishers from their beginning. */
function setUp(): TestHub & { ticks: Map<string, number>; write: (publisher: string, ...runs: string[]) => void } {
  const test = createTestHub();
  const ticks = new Map<string, number>();
  const write = (publisher: string, ...runs: string[]): void => {
    const before = ticks.get(publisher) ?? 0;
    ticks.set(publisher, before + 1);
    test.hub.take(
      messageOf(
        publisher,
        before,
        before + 1,
        runs.map((runId) => ({ runId })),
      ),
    );
  };
  write(A);
  write(B);
  return { ...test, ticks, write };
}

test("a subscriber gets its position first, and then each change as an event", () => {
  const { hub, subscribe, pass } = setUp();
  const { got } = subscribe();
  expect(got).toEqual([`: alive\nid: ${A}-1kv.${B}-1kv\n\n`]);
  hub.take(
    messageOf(A, 1, 2, [
      { runId: "r1", keys: ["a\nb"], step: 2 },
      { runId: "r1", kind: ChangeKind.RUN },
    ]),
  );
  pass(0);
  expect(got.slice(1).join("")).toBe(
    `id: ${A}-1kw.${B}-1kv\nevent: points\ndata: {"run_id":"r1","keys":["a\\nb"],"step":2}\n\n` +
      `id: ${A}-1kx.${B}-1kv\nevent: run\ndata: {"run_id":"r1"}\n\n`,
  );
});

test("there are 200 ms between two events of one run and kind, and in between changes are merged", () => {
  const { hub, subscribe, pass } = setUp();
  const { got } = subscribe();
  for (let tick = 2; tick < 102; tick++) {
    hub.take(messageOf(A, tick - 1, tick, [{ runId: "r", keys: [`k${tick % 2}`], step: tick }]));
    pass(10);
  }
  pass(200);
  const events = eventsIn(got);
  expect(events).toHaveLength(6);
  expect(events.at(-1)!.data).toEqual({ run_id: "r", keys: ["k0", "k1"], step: 101 });
});

test("changes of other projects, and of a project of another organization with the same id, are not sent", () => {
  const { hub, subscribe, pass } = setUp();
  const { got } = subscribe();
  const foreign = subscribe(undefined, OTHER);
  hub.take(
    messageOf(A, 1, 2, [
      { runId: "canary", projectId: OTHER },
      { runId: "canary", orgId: "0a1b2c3d-0000-4000-8000-000000000002" },
    ]),
  );
  pass(1000);
  expect(eventsIn(got)).toEqual([]);
  expect(eventsIn(foreign.got)).toHaveLength(1);
});

test("a subscriber begins at its moment, also while older changes wait to be sent to others", () => {
  const { subscribe, pass, write } = setUp();
  const first = subscribe();
  write(A, "r1");
  pass(0);
  write(A, "r2");
  const second = subscribe();
  write(A, "r3");
  pass(200);
  expect(eventsIn(first.got).map(({ data }) => data.run_id)).toEqual(["r1", "r2", "r3"]);
  expect(eventsIn(second.got).map(({ data }) => data.run_id)).toEqual(["r3"]);
  write(A, "r4");
  pass(200);
  expect(eventsIn(second.got).at(-1)!.id).toBe(eventsIn(first.got).at(-1)!.id);
});

test("a subscriber that left gets nothing more, and nothing is kept for a project without subscribers", () => {
  const { hub, subscribe, pass, write } = setUp();
  const { got, leave } = subscribe();
  write(A, "r1");
  leave();
  pass(1000);
  expect(eventsIn(got)).toEqual([]);
  expect([...hub.projects()]).toEqual([]);
});

describe("coming back", () => {
  test("behind each event sends exactly the others", () => {
    const { subscribe, pass, write } = setUp();
    const { got } = subscribe();
    write(A, "r1", "r2");
    write(B, "r3", "r4");
    pass(1000);
    const events = eventsIn(got);
    for (const [i, { id }] of events.entries()) {
      const back = subscribe(id);
      expect(eventsIn(back.got).map(({ data }) => data.run_id)).toEqual(
        events.slice(i + 1).map(({ data }) => data.run_id),
      );
      expect(idAtEnd(back.got)).toBe(`${A}-2db.${B}-2db`);
    }
  });

  test("replayed changes are not sent again", () => {
    const { subscribe, pass, write } = setUp();
    const { got } = subscribe();
    write(A, "r1");
    pass(0);
    write(A, "r2");
    const back = subscribe(idAtEnd(got));
    expect(eventsIn(back.got)).toHaveLength(1);
    pass(1000);
    expect(eventsIn(back.got)).toHaveLength(1);
  });

  test.each(["", "x", "dddddddddddd-1"])("after the id %j begins with reset", (id) => {
    const { subscribe } = setUp();
    expect(eventsIn(subscribe(id).got)).toMatchObject([{ event: "reset", data: {} }]);
  });

  test("to a gateway that began later begins with reset, and from there nothing is missed", () => {
    const [early, late] = [setUp(), createTestHub(0)];
    const { got } = early.subscribe();
    early.write(A, "r1");
    late.hub.take(messageOf(A, 2, 3));
    late.hub.take(messageOf(B, 1, 2));
    const back = late.subscribe(idAtEnd(got));
    expect(eventsIn(back.got)).toMatchObject([{ event: "reset" }]);
    late.hub.take(messageOf(A, 3, 4, [{ runId: "r2" }]));
    late.pass(0);
    expect(eventsIn(back.got).at(-1)).toMatchObject({ event: "points", data: { run_id: "r2" } });
  });

  test("after a change was forgotten begins with reset, and behind it does not", () => {
    const { subscribe, pass, write, recent } = setUp();
    const { got } = subscribe();
    const before = idAtEnd(got);
    write(A, "r1");
    pass(0);
    recent.forgetOld(Number.MAX_SAFE_INTEGER);
    expect(eventsIn(subscribe(before).got)).toMatchObject([{ event: "reset" }]);
    expect(eventsIn(subscribe(idAtEnd(got)).got)).toEqual([]);
  });

  test("after a publisher has begun sends what it announced", () => {
    const { hub, subscribe, pass } = setUp();
    const { got } = subscribe();
    hub.take(messageOf(PUBLISHERS[2], 0, 1, [{ runId: "r1" }]));
    pass(0);
    expect(eventsIn(subscribe(idAtEnd(got.slice(0, 1))).got)).toMatchObject([{ data: { run_id: "r1" } }]);
  });

  test("to any gateway, at any moment, misses no change", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("write" as const), by: fc.constantFrom(A, B), run: fc.nat(3) }),
      fc.record({ do: fc.constant("pass" as const), ms: fc.nat(150) }),
      fc.record({ do: fc.constant("move" as const), events: fc.nat(3) }),
      // A gateway receives later the messages that it has not received yet.
      fc.record({ do: fc.constant("deliver" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const gateways = [createTestHub(), createTestHub()];
        const queues = gateways.map(() => [] as ReturnType<typeof messageOf>[]);
        const ticks = new Map<string, number>();
        const send = (by: string, runs: string[]): void => {
          const before = ticks.get(by) ?? 0;
          ticks.set(by, before + 1);
          for (const queue of queues)
            queue.push(
              messageOf(
                by,
                before,
                before + 1,
                runs.map((runId) => ({ runId, step: serial })),
              ),
            );
        };
        const deliver = (i: number): void => queues[i]!.splice(0).forEach((message) => gateways[i]!.hub.take(message));
        let serial = 0;
        const written = new Map<string, number>();
        const known = new Map<string, number>();
        let at = 0;
        send(A, []);
        send(B, []);
        deliver(0);
        deliver(1);
        let stream = gateways[0]!.subscribe();
        let id = idAtEnd(stream.got);
        const read = (count = Number.POSITIVE_INFINITY): void => {
          const events = eventsIn(stream.got).slice(0, count);
          for (const { event, data } of events) {
            if (event === "reset") written.forEach((value, run) => known.set(run, value));
            else known.set(data.run_id!, Math.max(known.get(data.run_id!) ?? 0, data.step!));
          }
          if (count === Number.POSITIVE_INFINITY) id = idAtEnd([`id: ${id}\n`, ...stream.got]);
          else id = events.at(-1)?.id ?? id;
        };
        for (const one of steps) {
          if (one.do === "write") {
            serial += 1;
            written.set(`r${one.run}`, serial);
            send(one.by, [`r${one.run}`]);
            deliver(at);
          } else if (one.do === "pass") gateways.forEach(({ pass }) => pass(one.ms));
          else if (one.do === "deliver") deliver(1 - at);
          else {
            // The connection breaks after some of the events, and the client switches to the other gateway.
            read(one.events);
            stream.leave();
            at = 1 - at;
            stream = gateways[at]!.subscribe(id);
          }
        }
        deliver(0);
        deliver(1);
        gateways.forEach(({ pass }) => pass(1000));
        read();
        expect(known).toEqual(written);
      }),
    );
  });
});

describe("reset", () => {
  test("is sent when a message is missing, before what is known", () => {
    const { hub, subscribe, pass } = setUp();
    const { got } = subscribe();
    hub.take(messageOf(A, 7, 8, [{ runId: "r1" }]));
    pass(200);
    expect(eventsIn(got)).toMatchObject([{ event: "reset" }, { event: "points" }]);
  });

  test("is sent to all, and replaces what waits", () => {
    const { hub, subscribe, pass, write } = setUp();
    const [one, other] = [subscribe(), subscribe(undefined, OTHER)];
    write(A, "r1");
    hub.resetAll();
    pass(1000);
    expect([one, other].map(({ got }) => eventsIn(got))).toMatchObject([[{ event: "reset" }], [{ event: "reset" }]]);
  });

  test("stands for more changes than a client reads one by one", () => {
    const { hub, subscribe, pass } = setUp();
    const { got } = subscribe();
    const runs = (count: number, first = 0) => Array.from({ length: count }, (_, i) => ({ runId: `r${first + i}` }));
    for (let tick = 2; tick < 7; tick++) hub.take(messageOf(A, tick - 1, tick, runs(500, tick * 500)));
    pass(0);
    expect(eventsIn(got)).toMatchObject([{ event: "reset" }]);
    hub.take(messageOf(A, 6, 7, runs(1)));
    pass(1999);
    expect(eventsIn(got)).toHaveLength(1);
    pass(1);
    expect(eventsIn(got)).toHaveLength(2);
    expect(eventsIn(subscribe(`${A}-1kv.${B}-1kv`).got)).toMatchObject([{ event: "reset" }]);
    expect(EVENTS_MAX).toBe(2000);
  });
});

test("the comment moves a client on, but not beyond what it was sent", () => {
  const { hub, subscribe, pass, write } = setUp();
  const { got } = subscribe();
  const comment = (): string => hub.comment(projectKey(ORG, PROJECT)).toString();
  expect(comment()).toBe(got[0]);
  write(A, "r1");
  expect(comment()).toBe(got[0]);
  pass(0);
  expect(idAtEnd([comment()])).not.toBe(idAtEnd(got.slice(0, 1)));
  write(B);
  expect(idAtEnd([comment()])).toBe(`${A}-2db.${B}-2db`);
});

test("many subscribers are sent to in turns, in order, and no comment overtakes", () => {
  const { hub, subscribe, pass, write } = setUp();
  const all = Array.from({ length: 1200 }, () => subscribe());
  write(A, "r1");
  write(A, "r2");
  pass(0);
  expect(new Set(all.map(({ got }) => got.join("")))).toHaveProperty("size", 1);
  expect(eventsIn(all[1199]!.got)).toHaveLength(2);
  expect(hub.comment(projectKey(ORG, PROJECT)).toString()).toMatch(/^: alive\nid: /);
});

test("a deleted project ends its subscribers, and those of no other", () => {
  const { hub, subscribe } = setUp();
  const [one, other] = [subscribe(), subscribe(undefined, OTHER)];
  hub.take(messageOf(A, 1, 2, [{ kind: ChangeKind.PROJECT_DELETED }]));
  expect([one.ended(), other.ended()]).toEqual([true, false]);
});
