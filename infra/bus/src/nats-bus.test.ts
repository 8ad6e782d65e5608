import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { freePort, type Nats, startNats } from "@tidemark/local";
import { createLog } from "@tidemark/telemetry";
import { requireServers } from "@tidemark/testkit";
import { busContract, eventually } from "./bus.contract.ts";
import { createNatsBus, type Bus, type BusMessage } from "./index.ts";

const path = (await requireServers(["nats-server"]))?.get("nats-server");
const describeWithNats = path === undefined ? describe.skip : describe;

/** A server that can be stopped and started again on its port, with or without its data. */
const token = "tm_0123456789abcdef";

type Server = { readonly url: string; start(): Promise<Nats>; stop(): Promise<void>; lose(): Promise<void> };

async function newServer(): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), "tidemark-bus-"));
  const port = await freePort();
  let running: Nats | undefined;
  return {
    url: `nats://127.0.0.1:${port}`,
    start: async () => (running = await startNats({ path: path ?? "", dir, port, token, log: () => {} })),
    stop: async () => running?.stop(),
    lose: () => rm(dir, { recursive: true, force: true }),
  };
}

const lines: string[] = [];
const log = createLog({ level: "info", service: "bus-test", destination: { write: (line) => void lines.push(line) } });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (message: BusMessage): string => new TextDecoder().decode(message.data);
const unavailable = { name: "AppError", reason: "service_unavailable" };

describeWithNats("the bus over NATS JetStream", () => {
  let server: Server;
  beforeAll(async () => {
    server = await newServer();
    await server.start();
  });
  afterAll(async () => {
    await server.stop();
    await server.lose();
  });

  busContract(async () => ({
    here: await createNatsBus({ url: server.url, token, log }),
    there: await createNatsBus({ url: server.url, token, log }),
  }));
});

describeWithNats("a NATS server that stops and starts", () => {
  let server: Server;
  let bus: Bus;
  let subject: string;
  let durable: string;
  let seen: string[];
  let taken: string[];
  let caughtUp: number;

  beforeEach(async () => {
    server = await newServer();
    durable = `d-${randomUUID()}`;
    subject = `tidemark.test.${durable}.v1`;
    [seen, taken, caughtUp] = [[], [], 0];
  });
  afterEach(async () => {
    await bus.close();
    await server.stop();
    await server.lose();
  });

  async function open(): Promise<void> {
    bus = await createNatsBus({ url: server.url, token, log });
  }
  async function subscribe(): Promise<void> {
    await bus.listen(
      subject,
      (message) => void seen.push(textOf(message)),
      () => void caughtUp++,
    );
    await bus.work(subject, durable, async (message) => void taken.push(`${textOf(message)} ${message.attempt}`));
  }
  const publish = (text: string): Promise<void> => bus.publish(subject, bytes(text), { id: `${durable}-${text}` });

  test("a bus, its listeners and its workers can be created before the server is there", async () => {
    await open();
    expect(bus.connected()).toBe(false);
    await subscribe();
    await expect(publish("refused")).rejects.toMatchObject(unavailable);
    await server.start();
    await eventually(() => expect(bus.connected()).toBe(true));
    await publish("first");
    await eventually(() =>
      expect({ seen, taken, caughtUp }).toEqual({ seen: ["first"], taken: ["first 1"], caughtUp: 1 }),
    );
  });

  test("publishing is refused while it is stopped, and afterwards everything continues, including undelivered messages", async () => {
    await server.start();
    await open();
    await subscribe();
    await publish("before");
    await bus.publish(`${subject}.later`, bytes("kept"), { id: `${durable}-kept` });
    await eventually(() =>
      expect({ seen, taken, caughtUp }).toEqual({ seen: ["before"], taken: ["before 1"], caughtUp: 0 }),
    );

    await server.stop();
    await eventually(() => expect(bus.connected()).toBe(false));
    await expect(publish("refused")).rejects.toMatchObject(unavailable);

    await server.start();
    await eventually(() => expect(bus.connected()).toBe(true));
    await publish("after");
    await eventually(() =>
      expect({ seen, taken, caughtUp }).toEqual({
        seen: ["before", "after"],
        taken: ["before 1", "after 1"],
        caughtUp: 1,
      }),
    );
    await bus.work(`${subject}.later`, `${durable}-later`, async (message) => void taken.push(textOf(message)));
    await eventually(() => expect(taken).toContain("kept"));
  });

  test("a server that lost everything gets its stream and its queues again", async () => {
    await server.start();
    await open();
    await subscribe();
    await publish("before");
    await eventually(() => expect(taken).toEqual(["before 1"]));

    await server.stop();
    await server.lose();
    await server.start();
    await eventually(() => publish("after"));
    await eventually(() =>
      expect({ seen, taken }).toEqual({ seen: ["before", "after"], taken: ["before 1", "after 1"] }),
    );
  });

  test("a handler that outlives the connection does not acknowledge a message of the next one", async () => {
    await server.start();
    await open();
    const gate = Promise.withResolvers<void>();
    const attempts: string[] = [];
    await bus.work(
      subject,
      durable,
      async (message) => {
        attempts.push(`${textOf(message)} ${message.attempt}`);
        if (textOf(message) === "old") await gate.promise;
        else if (message.attempt === 1) throw new Error("worker under test");
      },
      { concurrency: 2, ackWaitMs: 2_000 },
    );
    await publish("old");
    await eventually(() => expect(attempts).toEqual(["old 1"]));
    await server.stop();
    await server.lose();
    await server.start();
    // Takes the sequence number that "old" had.
    await eventually(() => publish("new"));
    await eventually(() => expect(attempts).toContain("new 1"));
    gate.resolve();
    await eventually(() => expect(attempts).toEqual(["old 1", "new 1", "new 2"]));
  });

  test("a stream that was deleted under a running bus is created again by the next message", async () => {
    await server.start();
    await open();
    await subscribe();
    await publish("before");
    await eventually(() => expect(taken).toEqual(["before 1"]));
    const operator = await connectPlain(server.url);
    await operator.deleteStream("TIDEMARK");
    await eventually(() => publish("after"));
    await eventually(() => expect(taken).toEqual(["before 1", "after 1"]));
    await operator.close();
  });

  test("a server that hangs makes publishing fail, and does no harm when it continues", async () => {
    const { pid } = await server.start();
    await open();
    await subscribe();
    process.kill(pid, "SIGSTOP");
    await expect(publish("stuck")).rejects.toMatchObject(unavailable);
    process.kill(pid, "SIGCONT");
    await eventually(() => publish("stuck"));
    await eventually(() => expect(taken).toEqual(["stuck 1"]));
  });

  test("closing while the server is away ends immediately, and nothing more is tried", async () => {
    await open();
    await subscribe();
    await bus.close();
    expect(bus.connected()).toBe(false);
  });

  test("an outage is logged once, with neither token nor flood", async () => {
    const from = lines.length;
    bus = await createNatsBus({ url: server.url, log, token });
    const written = lines.slice(from).map((line) => JSON.parse(line) as { message: string });
    expect(written.map((line) => line.message)).toEqual(["event bus is not reachable"]);
    expect(lines.join("")).not.toContain("0123456789abcdef");
  });
});

async function connectPlain(
  url: string,
): Promise<{ deleteStream(name: string): Promise<void>; close(): Promise<void> }> {
  const [{ connect }, { jetstreamManager }] = await Promise.all([
    import("@nats-io/transport-node"),
    import("@nats-io/jetstream"),
  ]);
  const nc = await connect({ servers: url, token });
  const jsm = await jetstreamManager(nc);
  return {
    deleteStream: async (name) => void (await jsm.streams.delete(name)),
    close: () => nc.close(),
  };
}
