import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import { openChangeStream, type ChangeStream } from "../stack/changes.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type Replica, type OwnStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

describeWith(servers)("streams of changes", () => {
  let stack: OwnStack;
  let replica: Replica;
  const open: ChangeStream[] = [];
  beforeAll(async () => {
    stack = await startStack("split");
    replica = await stack.addReplica();
    await untilItGoesOn(replica.api.baseUrl);
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  afterAll(() => stack?.stop());

  /** A gateway that has just begun has not heard of all who announce; until then others cannot go on behind its last event. */
  const untilItGoesOn = async (baseUrl: string): Promise<void> => {
    const { follow } = await setUp();
    const publishersAt = async (gateway: string): Promise<string> => {
      const stream = await follow(undefined, gateway);
      await until("the first comment", () => Promise.resolve(stream.comments() > 0));
      const parts = stream.lastEventId().split(".");
      stream.close();
      return parts
        .map((part) => part.split("-")[0]!)
        .toSorted()
        .join(" ");
    };
    await until("the same publishers", async () => {
      const [known, own] = await Promise.all([publishersAt(stack.baseUrl), publishersAt(baseUrl)]);
      return own === known;
    });
  };

  /** An organization with a run, and how to follow its project at a gateway. */
  const setUp = async () => {
    const { api, key } = await stack.organization();
    const { id, project_id: projectId } = (await api.post("/runs", {})).json.run as { id: string; project_id: string };
    let step = 0;
    return {
      id,
      /** Writes a point and returns its step. */
      write: async (): Promise<number> => {
        step += 1;
        const answer = await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step });
        expect(answer.status).toBe(200);
        return step;
      },
      follow: async (lastEventId?: string, baseUrl = stack.baseUrl): Promise<ChangeStream> => {
        const headers = { authorization: `Bearer ${key}` };
        const stream = await openChangeStream(
          baseUrl,
          projectId,
          lastEventId === undefined ? headers : { ...headers, "last-event-id": lastEventId },
        );
        expect(stream.status).toBe(200);
        open.push(stream);
        return stream;
      },
    };
  };
  const untilStep = (stream: ChangeStream, step: number): Promise<unknown> =>
    until(`the step ${step}`, () => Promise.resolve(stream.events.some(({ data }) => data.step === step)));
  const untilReset = (stream: ChangeStream, from = 0, ms?: number): Promise<unknown> =>
    until("a reset", () => Promise.resolve(stream.events.slice(from).some(({ event }) => event === "reset")), ms);

  test("continue at another gateway behind the last event, without a gap, a repeat or a reset", async () => {
    const { write, follow } = await setUp();
    const here = await follow();
    await untilStep(here, await write());
    here.close();
    await write();
    const missed = await write();
    const there = await follow(here.lastEventId(), replica.api.baseUrl);
    await untilStep(there, missed);
    expect(there.events.every(({ event, data }) => event === "points" && data.step > 1)).toBe(true);
    there.close();
    const back = await follow(there.lastEventId());
    await untilStep(back, await write());
    expect(back.events.map(({ data }) => data.step)).toEqual([4]);
  });

  test("are reset when the process that wrote is killed, and continue with the next one", async () => {
    const { write, follow } = await setUp();
    const [here, there] = [await follow(), await follow(undefined, replica.api.baseUrl)];
    const step = await write();
    await Promise.all([untilStep(here, step), untilStep(there, step)]);
    await stack.children.get("ingest")!.end("SIGKILL");
    await Promise.all([untilReset(here), untilReset(there)]);
    await stack.restart("ingest");
    const from = here.events.length;
    const later = await write();
    await Promise.all([untilStep(here, later), untilStep(there, later)]);
    expect(here.events.slice(from).map(({ event }) => event)).not.toContain("reset");
  });

  test("end when their gateway stops, and lose nothing at another one", async () => {
    const { write, follow } = await setUp();
    const spare = await stack.addReplica();
    await untilItGoesOn(spare.api.baseUrl);
    const first = await follow(undefined, spare.api.baseUrl);
    await untilStep(first, await write());
    await spare.child.end();
    await until("the end", () => Promise.resolve(first.isOver()));
    const missed = await write();
    const second = await follow(first.lastEventId());
    await untilStep(second, missed);
    expect(second.events.map(({ event }) => event)).toEqual(["points"]);
  });

  test("say within ten seconds without NATS that something may have changed, and continue with it", async () => {
    const { write, follow } = await setUp();
    const stream = await follow();
    await untilStep(stream, await write());
    await stack.nats!.stop();
    await write();
    await untilReset(stream, 0, 10_000);
    const from = stream.events.length;
    await write();
    await untilReset(stream, from, 10_000);
    await stack.nats!.start();
    const [last, again] = [await write(), stream.events.length];
    // Who announced before the gateway was connected again has left a gap.
    await until("the last step, or a reset", () =>
      Promise.resolve(stream.events.slice(again).some(({ event, data }) => event === "reset" || data.step === last)),
    );
    await until("a step that arrives by itself", async () => {
      const [step, from] = [await write(), stream.events.length];
      await new Promise((resolve) => setTimeout(resolve, 500));
      return stream.events.slice(from).some(({ data }) => data.step === step);
    });
    expect(stream.isOver()).toBe(false);
  });
});
