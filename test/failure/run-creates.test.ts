import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import { requireServers, rounds, until, withPatience } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { modesHere } from "../stack/modes.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const CLIENTS = 8;

const create = (api: Api, id: string) => api.post("/runs", { id, project: "p", config: { id } });

/** All runs of the project, and the total from its counters. */
async function runsOf(api: Api): Promise<{ total: number; ids: string[]; numbers: number[] }> {
  const ids: string[] = [];
  const numbers: number[] = [];
  let total = 0;
  for (let cursor: string | null = ""; cursor !== null;) {
    const { json } = await api.get(`/api/runs/summary?project=p&limit=1000&projection=selection&cursor=${cursor}`);
    total = json.total;
    for (const run of json.runs) {
      ids.push(run.id);
      numbers.push(Number(run.name.split("-")[2]));
    }
    cursor = json.next_cursor;
  }
  return { total, ids: ids.toSorted(), numbers: numbers.toSorted((a, b) => a - b) };
}

/** The ids once each, counted, with the numbers 1 to as many as there are. */
const exactly = (ids: readonly string[]) => ({
  total: ids.length,
  ids: ids.toSorted(),
  numbers: Array.from({ length: ids.length }, (_, i) => i + 1),
});

describe.each(modesHere())("kill -9 of everything while clients create runs, %s", (mode) => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tidemark-kill-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("loses no acknowledged run, and a repeat of each create finds it or creates it", async () => {
    let postgres = await startPostgres({ dataDir: directory, log: () => {} });
    let stack = await startStack(mode, { databaseUrl: withPatience(postgres.url) });
    const { key, api } = await stack.organization();
    const sent: string[] = [];
    const acknowledged = new Set<string>();
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (;;) {
        const id = randomUUID();
        sent.push(id);
        const status = await create(api, id).then(
          (answer) => answer.status,
          () => undefined,
        );
        if (status !== 200) return;
        acknowledged.add(id);
      }
    });
    await until("some runs", () => acknowledged.size > 100);
    for (const child of new Set(stack.children.values())) child.signal("SIGKILL");
    process.kill(postgres.pid, "SIGKILL");
    await Promise.all(clients);
    await Promise.all([...new Set(stack.children.values())].map(({ ended }) => ended));
    await postgres.exited;
    await postgres.stop();
    await stack.stop();

    postgres = await startPostgres({ dataDir: directory, log: () => {} });
    stack = await startStack(mode, { databaseUrl: withPatience(postgres.url) });
    const again = stack.api.as(key);
    const repeats = await Promise.all(sent.map(async (id) => ({ id, ...(await create(again, id)) })));
    expect(new Set(repeats.map(({ status }) => status))).toEqual(new Set([200]));
    const createdNow = repeats.filter(({ json }) => json.created).map(({ id }) => id);
    expect(createdNow.filter((id) => acknowledged.has(id))).toEqual([]);
    expect(await runsOf(again)).toEqual(exactly(sent));
    await stack.stop();
    await postgres.stop();
  });
});

describeWith(servers)("a runs service", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split");
  });
  afterAll(() => stack.stop());

  test("killed while clients create: nothing acknowledged is lost or doubled, and it recovers", async () => {
    const { api } = await stack.organization();
    const acknowledged: string[] = [];
    let creating = true;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (creating) {
        const id = randomUUID();
        // A client that repeats a create until an answer says that the run exists.
        await until("a run", async () => {
          const { status } = await create(api, id);
          if (status !== 200) expect(status).toBe(503);
          return status === 200;
        });
        acknowledged.push(id);
      }
    });
    for (let kill = 0; kill < rounds(3); kill += 1) {
      const before = acknowledged.length;
      await until("some runs", () => acknowledged.length > before + 50);
      await stack.restart("runs");
    }
    creating = false;
    await Promise.all(clients);
    expect(await runsOf(api)).toEqual(exactly(acknowledged));
  });
});
