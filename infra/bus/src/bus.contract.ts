import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { PATIENCE_MS } from "@tidemark/testkit";
import type { Bus, BusMessage } from "./bus.ts";

/**
 * How a driver is put under the contract: two processes' buses over one broker; a driver inside one process gives one
 * bus twice.
 */
export type BusContractSubject = { readonly here: Bus; readonly there: Bus };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (message: BusMessage): string => new TextDecoder().decode(message.data);

/** Polls until `check` stops throwing, and throws what it threw last when that takes too long. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** The contract of every bus driver. */
export function busContract(open: () => Promise<BusContractSubject>): void {
  let here: Bus;
  let there: Bus;
  let subject: string;
  let durable: string;
  /** A promise that a handler hangs on: until the end of the suite, because closing waits for it. */
  const hanging = Promise.withResolvers<void>();

  beforeAll(async () => {
    ({ here, there } = await open());
  });
  beforeEach(() => {
    durable = `d-${randomUUID()}`;
    subject = `tidemark.test.${durable}.v1`;
  });
  afterAll(async () => {
    hanging.resolve();
    await here.close();
    await there.close();
  });

  describe("listen", () => {
    test("every listener in every process sees what is published after it resolved, in order, with all its parts", async () => {
      const seen: BusMessage[][] = [[], [], []];
      await here.listen(subject, (message) => void seen[0]?.push(message));
      await here.listen(subject, (message) => void seen[1]?.push(message));
      await there.listen("tidemark.test.*.v1", (message) => {
        if (message.subject === subject) seen[2]?.push(message);
      });
      await here.publish(subject, bytes("one"), {
        id: `${durable}-1`,
        headers: { traceparent: "00-a", "X-Kind": "b c" },
      });
      await there.publish(subject, new Uint8Array(), { id: `${durable}-2` });
      await eventually(() => expect(seen.map((messages) => messages.length)).toEqual([2, 2, 2]));
      for (const messages of seen) {
        expect(messages.map(({ subject, id, headers, attempt }) => ({ subject, id, headers, attempt }))).toEqual([
          { subject, id: `${durable}-1`, headers: { traceparent: "00-a", "X-Kind": "b c" }, attempt: 1 },
          { subject, id: `${durable}-2`, headers: {}, attempt: 1 },
        ]);
        expect(messages.map(textOf)).toEqual(["one", ""]);
      }
    });

    test("a listener sees nothing from before, nothing of other subjects, and nothing after its end", async () => {
      const [early, late]: string[][] = [[], []];
      await here.publish(subject, bytes("before"), { id: `${durable}-0` });
      const closing = await here.listen(subject, (message) => void early?.push(textOf(message)));
      await here.publish(`${subject}.more`, bytes("other"), { id: `${durable}-1` });
      await here.publish(subject, bytes("seen"), { id: `${durable}-2` });
      await eventually(() => expect(early).toEqual(["seen"]));
      await closing.close();
      await here.listen(subject, (message) => void late?.push(textOf(message)));
      await here.publish(subject, bytes("after"), { id: `${durable}-3` });
      await eventually(() => expect(late).toEqual(["after"]));
      expect(early).toEqual(["seen"]);
    });

    test("a listener that throws disturbs neither the others nor itself", async () => {
      const seen: string[] = [];
      await here.listen(subject, (message) => {
        seen.push(`bad ${textOf(message)}`);
        throw new Error("listener under test");
      });
      await here.listen(subject, (message) => void seen.push(`good ${textOf(message)}`));
      await here.publish(subject, bytes("1"), { id: `${durable}-1` });
      await here.publish(subject, bytes("2"), { id: `${durable}-2` });
      await eventually(() => expect(seen.toSorted()).toEqual(["bad 1", "bad 2", "good 1", "good 2"]));
    });

    test("the publisher may use its buffer again", async () => {
      const seen: string[] = [];
      await here.listen(subject, (message) => void seen.push(textOf(message)));
      const buffer = bytes("first");
      await here.publish(subject, buffer, { id: `${durable}-1` });
      buffer.fill(0);
      await eventually(() => expect(seen).toEqual(["first"]));
    });
  });

  describe("work", () => {
    test("each message is delivered to one worker of a queue, in any process, and to every queue", async () => {
      const taken: string[] = [];
      const audited: string[] = [];
      const take = async (message: BusMessage): Promise<void> => void taken.push(textOf(message));
      await here.work(subject, durable, take);
      await there.work(subject, durable, take);
      await there.work(subject, `${durable}-audit`, async (message) => void audited.push(textOf(message)));
      const texts = Array.from({ length: 20 }, (_, i) => String(i).padStart(2, "0"));
      for (const text of texts) await here.publish(subject, bytes(text), { id: `${durable}-${text}` });
      await eventually(() => expect(audited).toHaveLength(20));
      await eventually(() => expect(taken.toSorted()).toEqual(texts));
    });

    test("messages published before the first worker started are delivered to it", async () => {
      await here.publish(subject, bytes("early"), { id: `${durable}-1` });
      const taken: string[] = [];
      await there.work(subject, durable, async (message) => void taken.push(textOf(message)));
      await eventually(() => expect(taken).toEqual(["early"]));
    });

    test("the same id is taken once", async () => {
      const taken: string[] = [];
      await here.work(subject, durable, async (message) => void taken.push(textOf(message)));
      await Promise.all([1, 2, 3].map((i) => here.publish(subject, bytes(`same ${i}`), { id: `${durable}-1` })));
      await there.publish(subject, bytes("same 4"), { id: `${durable}-1` });
      await here.publish(subject, bytes("end"), { id: `${durable}-2` });
      await eventually(() => expect(taken).toContain("end"));
      expect(taken).toHaveLength(2);
    });

    test("a message whose handler throws is delivered again, one attempt higher, until a handler resolves", async () => {
      const attempts: number[] = [];
      const other: string[] = [];
      await here.work(
        subject,
        durable,
        async (message) => {
          if (textOf(message) !== "hard") return void other.push(textOf(message));
          attempts.push(message.attempt);
          if (message.attempt < 3) throw new Error("worker under test");
        },
        { ackWaitMs: 1_000 },
      );
      await here.publish(subject, bytes("hard"), { id: `${durable}-1` });
      await here.publish(subject, bytes("easy"), { id: `${durable}-2` });
      await eventually(() => expect(attempts).toEqual([1, 2, 3]));
      expect(other).toEqual(["easy"]);
    });

    test("a message without an outcome is delivered to another worker, and a message with one does not", async () => {
      const taken: string[] = [];
      // The first of the two to get the hard message hangs with it forever.
      const take = async (message: BusMessage): Promise<void> => {
        taken.push(`${textOf(message)} ${message.attempt}`);
        if (textOf(message) === "hard" && message.attempt === 1) await hanging.promise;
      };
      await here.publish(subject, bytes("easy"), { id: `${durable}-1` });
      await here.publish(subject, bytes("hard"), { id: `${durable}-2` });
      await here.work(subject, durable, take, { ackWaitMs: 300 });
      await there.work(subject, durable, take, { ackWaitMs: 300 });
      await eventually(() => expect(taken.toSorted()).toEqual(["easy 1", "hard 1", "hard 2"]));
    });

    test.each(["throws", "hangs"])(
      "a message whose handler %s on the last allowed attempt is given up",
      async (how) => {
        const attempts: number[] = [];
        const dead: BusMessage[] = [];
        await here.work(
          subject,
          durable,
          async (message) => {
            attempts.push(message.attempt);
            if (how === "hangs") await hanging.promise;
            throw new Error("worker under test");
          },
          { ackWaitMs: 300, maxDeliver: 2, concurrency: 3, onDead: (message) => void dead.push(message) },
        );
        await here.publish(subject, bytes("x"), { id: `${durable}-1`, headers: { kind: "hard" } });
        await eventually(() => expect(dead).toHaveLength(1));
        expect(dead[0]).toMatchObject({ subject, id: `${durable}-1`, headers: { kind: "hard" } });
        expect(attempts).toEqual([1, 2]);
      },
    );

    test("no more handlers than requested run simultaneously", async () => {
      const [gate, done] = [Promise.withResolvers<void>(), new Set<string>()];
      let running = 0;
      let most = 0;
      await here.work(
        subject,
        durable,
        async (message) => {
          most = Math.max(most, ++running);
          await gate.promise;
          running--;
          done.add(textOf(message));
        },
        { concurrency: 2 },
      );
      for (const text of ["1", "2", "3", "4", "5"])
        await here.publish(subject, bytes(text), { id: `${durable}-${text}` });
      await eventually(() => expect(running).toBe(2));
      gate.resolve();
      await eventually(() => expect(done.size).toBe(5));
      expect(most).toBe(2);
    });

    test("closing waits for the handler at work, and what came later waits for the next worker", async () => {
      const gate = Promise.withResolvers<void>();
      const taken: string[] = [];
      const closing = await here.work(subject, durable, async (message) => {
        taken.push(`begin ${textOf(message)}`);
        await gate.promise;
        taken.push(`end ${textOf(message)}`);
      });
      await here.publish(subject, bytes("1"), { id: `${durable}-1` });
      await eventually(() => expect(taken).toEqual(["begin 1"]));
      const closed = closing.close().then(() => taken.push("closed"));
      await here.publish(subject, bytes("2"), { id: `${durable}-2` });
      gate.resolve();
      await closed;
      expect(taken).toEqual(["begin 1", "end 1", "closed"]);
      await there.work(subject, durable, async (message) => void taken.push(`later ${textOf(message)}`));
      await eventually(() => expect(taken).toEqual(["begin 1", "end 1", "closed", "later 2"]));
    });
  });

  describe("announce", () => {
    test("every listener in every process gets it, in order, and no work queue does", async () => {
      const announced = `announced.test.${durable}.v1`;
      const seen: string[][] = [[], []];
      await here.listen(announced, (message) => void seen[0]?.push(textOf(message)));
      await there.listen("announced.test.>", (message) => {
        if (message.subject === announced) seen[1]?.push(`${message.id}${textOf(message)}${message.attempt}`);
      });
      const taken: string[] = [];
      await there.work("tidemark.>", durable, async (message) => {
        if (message.subject === subject || message.subject === announced) taken.push(textOf(message));
      });
      const buffer = bytes("a");
      expect(here.announce(announced, buffer)).toBe(true);
      buffer.set(bytes("x"));
      expect(here.announce(announced, bytes("b"))).toBe(true);
      await here.publish(subject, bytes("work"), { id: `${durable}-1` });
      await eventually(() =>
        expect([seen, taken]).toEqual([
          [
            ["a", "b"],
            ["a1", "b1"],
          ],
          ["work"],
        ]),
      );
    });

    test.each(["tidemark.test.v1", "announced", "announced.*.v1", `announced.${"a".repeat(200)}`])(
      "refuses the subject %j",
      (odd) => {
        expect(() => here.announce(odd, bytes("x"))).toThrow(TypeError);
      },
    );

    test("takes 512 KiB and refuses more", () => {
      expect(here.announce("announced.test.v1", new Uint8Array(512 * 1024))).toBe(true);
      expect(() => here.announce("announced.test.v1", new Uint8Array(512 * 1024 + 1))).toThrow(TypeError);
    });
  });

  describe("refusals", () => {
    test.each([
      ["a subject outside the product", "other.x.v1"],
      ["a bare root", "tidemark"],
      ["a pattern as a subject", "tidemark.*.v1"],
      ["an empty word", "tidemark..v1"],
      ["a blank", "tidemark.a b.v1"],
      ["a line break at the end", "tidemark.a.v1\n"],
      ["a subject beyond its bound", `tidemark.${"a".repeat(200)}`],
    ])("publishing to %s", async (_, odd) => {
      await expect(here.publish(odd, bytes("x"), { id: "1" })).rejects.toThrow(TypeError);
    });

    test.each([
      ["an empty id", { id: "" }],
      ["an id with a line break", { id: "a\r\nNats-Rollup: all" }],
      ["an id beyond its bound", { id: "a".repeat(256) }],
      ["a reserved header", { id: "1", headers: { "nats-rollup": "all" } }],
      ["a header name with a colon", { id: "1", headers: { "a:b": "c" } }],
      ["a header value with a line break", { id: "1", headers: { a: "b\r\nc: d" } }],
    ])("publishing with %s", async (_, options) => {
      await expect(here.publish(subject, bytes("x"), options)).rejects.toThrow(TypeError);
    });

    test("publishing more than 512 KiB, while exactly that is taken", async () => {
      const sizes: number[] = [];
      await there.listen(subject, (message) => void sizes.push(message.data.byteLength));
      await here.publish(subject, new Uint8Array(512 * 1024), { id: `${durable}-1` });
      await expect(here.publish(subject, new Uint8Array(512 * 1024 + 1), { id: `${durable}-2` })).rejects.toThrow(
        TypeError,
      );
      await eventually(() => expect(sizes).toEqual([512 * 1024]));
    });

    test.each(["tidemark.>.v1", "other.>", "", "tidemark.a*"])("listening to and working on %j", async (odd) => {
      await expect(here.listen(odd, () => {})).rejects.toThrow(TypeError);
      await expect(here.work(odd, durable, async () => {})).rejects.toThrow(TypeError);
    });

    test("a queue with a name that no server takes", async () => {
      await expect(here.work(subject, "a.b", async () => {})).rejects.toThrow(TypeError);
    });
  });

  test("a closed bus is not connected, refuses with service_unavailable, and closes twice", async () => {
    const { here: bus, there: other } = await open();
    const running = await bus.work(subject, durable, async () => {});
    expect(bus.connected()).toBe(true);
    await bus.close();
    await bus.close();
    await running.close();
    await other.close();
    expect(bus.connected()).toBe(false);
    expect(bus.announce("announced.test.v1", bytes("x"))).toBe(false);
    await expect(bus.publish(subject, bytes("x"), { id: "1" })).rejects.toMatchObject({
      name: "AppError",
      reason: "service_unavailable",
    });
  });
}
