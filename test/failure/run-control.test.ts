import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type Postgres } from "@tidemark/local";
import { requireServers, until, withPatience } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { modesHere } from "../stack/modes.ts";
import type { Api } from "../stack/client.ts";
import { runIn, signalOf, stopOf } from "../stack/run-control.ts";
import { startStack, type Replica, type OwnStack } from "../stack/stack.ts";
import { untilReady } from "../stack/child.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** Waits until a run's training process is notified of a request; null: of none. */
function untilTold(api: Api, id: string, request: string | null, timeoutMs: number): Promise<unknown> {
  const ask = async () => (await signalOf(api, id)).json.stop_request?.stop_request_id ?? null;
  return until(`stop request ${request}`, async () => (await ask()) === request, timeoutMs);
}

const untilEnded = (api: Api, id: string, ended: boolean, timeoutMs: number): Promise<unknown> =>
  until("the end of the run", async () => (await signalOf(api, id)).json.terminal === ended, timeoutMs);

describeWith(servers)("two control services", () => {
  let stack: OwnStack;
  let replica: Replica;
  beforeAll(async () => {
    stack = await startStack("split");
    replica = await stack.addReplica();
  });
  afterAll(() => stack?.stop());

  const pair = async () => {
    const { api, key } = await stack.organization();
    const there = replica.api.as(key);
    const id = await runIn(api);
    // Both have it in memory.
    for (const one of [api, there]) expect((await signalOf(one, id)).json.stop_requested).toBe(false);
    return { here: api, there, id };
  };

  /** A whole life of a run, changed on one side and seen on the other. */
  async function seenOnTheOther(here: Api, there: Api, id: string, withinMs: number): Promise<void> {
    const request = await stopOf(here, id);
    await untilTold(there, id, request, withinMs);
    await there.post(`/api/runs/${id}/stop-ack`, { stop_request_id: request, state: "completed" });
    await untilEnded(here, id, true, withinMs);
    expect((await here.get(`/runs/${id}`)).json.run.run_control.display_status).toBe("stopped");
    await there.post("/runs", { id, mode: "resume" });
    await untilEnded(here, id, false, withinMs);
    await here.patch(`/runs/${id}`, { status: "finished" });
    await untilEnded(there, id, true, withinMs);
  }

  test("a change through one is seen through the other within a second", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { here, there, id } = await pair();
      const [one, other] = round % 2 === 0 ? [here, there] : [there, here];
      await seenOnTheOther(one, other, id, 1000);
      expect((await other.get(`/runs/${id}`)).json.run).toMatchObject({ status: "finished", resume_count: 1 });
    }
  });

  test("and within ten while NATS is stopped; the stop itself works as always", async () => {
    const before = await pair();
    await stack.nats?.stop();
    await seenOnTheOther(before.here, before.there, before.id, 10_000);
    const meanwhile = await pair();
    await seenOnTheOther(meanwhile.there, meanwhile.here, meanwhile.id, 10_000);
    expect((await stack.api.get("/readyz")).status).toBe(200);
    await stack.nats?.start();
    const after = await pair();
    await until("events to flow again", async () => {
      const id = await runIn(after.here);
      await signalOf(after.there, id);
      await untilTold(after.there, id, await stopOf(after.here, id), 1000);
      return true;
    });
  });

  test("a control service that is killed right after it answered loses no request", async () => {
    const { here, there, id } = await pair();
    const request = await stopOf(here, id);
    stack.children.get("control")?.signal("SIGKILL");
    await untilTold(there, id, request, 1000);
    // While it is gone its routes are 503, and everything else works.
    await until("its end to be noticed", async () => (await signalOf(here, id)).status === 503);
    const refused = { status: 503, json: { error: expect.any(String), code: "service_unavailable" } };
    expect(await here.post(`/api/runs/${id}/stop`)).toMatchObject(refused);
    expect(await here.post("/api/runs/stop", { run_ids: [id] })).toMatchObject(refused);
    expect((await here.patch(`/runs/${id}`, { status: "finished" })).status).toBe(200);
    expect((await here.post("/runs", { id, mode: "resume" })).status).toBe(200);
    const second = await stopOf(there, id);
    await stack.restart("control");
    await untilTold(here, id, second, 1000);
  });
});

describe.each(modesHere())("stop requests of an installation that is killed, %s", (mode) => {
  test("exist after it restarts, and so do their effects", async () => {
    const stack = await startStack(mode);
    try {
      const { api } = await stack.organization();
      const [asked, stopped] = [await runIn(api), await runIn(api)];
      const first = await stopOf(api, stopped);
      const done = await api.post(`/api/runs/${stopped}/stop-ack`, { stop_request_id: first, state: "completed" });
      const answer = await api.post(
        `/api/runs/${asked}/stop`,
        { reason: "r" },
        { headers: { "idempotency-key": "k" } },
      );
      stack.children.get("control")?.signal("SIGKILL");
      expect([done.status, answer.status]).toEqual([200, 200]);
      await stack.restart("control");
      const request = answer.json.run_control.stop_request_id;
      expect((await signalOf(api, asked)).json.stop_request?.stop_request_id).toBe(request);
      expect((await signalOf(api, stopped)).json).toMatchObject({ terminal: true, stop_requested: false });
      const again = await api.post(`/api/runs/${asked}/stop`, { reason: "r" }, { headers: { "idempotency-key": "k" } });
      expect(again).toMatchObject({ text: answer.text, headers: { "idempotency-replayed": "true" } });
    } finally {
      await stack.stop();
    }
  });
});

describe.each(modesHere())("while PostgreSQL is stopped, %s", (mode) => {
  let directory = "";
  let postgres: Postgres;
  let stack: OwnStack;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tidemark-outage-"));
    postgres = await startPostgres({ dataDir: directory, log: () => {} });
    stack = await startStack(mode, { databaseUrl: withPatience(postgres.url) });
  });
  afterAll(async () => {
    await stack?.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test("a stop is 503, a signal is right or 503, and all recovers by itself", async () => {
    const { api } = await stack.organization();
    const [known, unknown] = [await runIn(api), await runIn(api)];
    await signalOf(api, known);
    const { port } = postgres;
    await postgres.stop();
    const refused = { status: 503, json: { error: expect.any(String), code: "warehouse_unavailable" } };
    const refusal = await api.post(`/api/runs/${known}/stop`);
    expect(refusal).toMatchObject(refused);
    expect(refusal.headers["retry-after"]).toBe("1");
    expect(await api.post(`/api/runs/${known}/stop-ack`, { stop_request_id: "x", state: "completed" })).toMatchObject(
      refused,
    );
    // Never a 404: the SDK stops polling permanently on that.
    const sure = await signalOf(api, unknown);
    expect([200, 503]).toContain(sure.status);
    await until(
      "memory to be too old to be believed",
      async () => {
        const answer = await signalOf(api, known);
        if (answer.status === 200) expect(answer.json.stop_requested).toBe(false);
        else expect(answer).toMatchObject(refused);
        return answer.status === 503;
      },
      12_000,
    );
    postgres = await startPostgres({ dataDir: directory, log: () => {}, port });
    await untilReady(stack);
    const request = await stopOf(api, known);
    expect((await signalOf(api, known)).json.stop_request?.stop_request_id).toBe(request);
  });
});
