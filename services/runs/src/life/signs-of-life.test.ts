import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { asOwner, callAs, makeRun, startRuns, STALE_MS, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());
beforeEach(() => {
  fixture.clock.aheadMs = 0;
});

type Caller = ReturnType<typeof callAs>;

const made = async (call: Caller, name: string): Promise<string> => (await makeRun(fixture.client, call, { name })).id;

const sign = (call: Caller, runId: string, ageMs = 0) => ({ orgId: call.orgId, runId, ageMs: BigInt(ageMs) });

const record = (...signs: ReturnType<typeof sign>[]) => fixture.client.recordSignsOfLife({ signs }, callAs());

const read = async (call: Caller, id: string) => {
  const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
  if (run?.run === undefined) throw new Error("no run");
  return run.run;
};

const order = { sortBy: "created", metricKey: "" };

const page = async (call: Caller, filter: { stale?: boolean; status?: string; q?: string }, more: object = {}) => {
  const listed = await fixture.client.summarizeRuns({ filter, order, limit: 100, ...more }, call);
  return {
    names: listed.runs.map(({ run }) => run?.name),
    stale: listed.runs.map(({ run }) => run?.stale),
    total: Number(listed.total),
    next: listed.nextCursor,
  };
};

describe("a run", () => {
  test("is seen when it is created, and stale once more than the time has passed", async () => {
    const call = callAs();
    const id = await made(call, "one");
    const run = await read(call, id);
    expect([run.lastSeenAt, run.stale]).toEqual([run.createdAt, false]);
    fixture.clock.aheadMs = STALE_MS - 60_000;
    expect((await read(call, id)).stale).toBe(false);
    fixture.clock.aheadMs = STALE_MS + 1;
    expect(await read(call, id)).toMatchObject({ stale: true, lastSeenAt: run.createdAt });
  });

  test.each(["finished", "failed"])("that is %s is never stale", async (status) => {
    const call = callAs();
    const id = await made(call, "one");
    await fixture.client.updateRun({ runId: id, status }, call);
    fixture.clock.aheadMs = 100 * STALE_MS;
    expect((await read(call, id)).stale).toBe(false);
  });

  test("that stops is stale like any that runs", async () => {
    const call = callAs();
    const id = await made(call, "one");
    await asOwner(
      fixture,
      `UPDATE runs.runs SET stop_state = 'requested', stop_request_id = gen_random_uuid(), stop_requested_at = now() WHERE id = $1`,
      [id],
    );
    fixture.clock.aheadMs = 2 * STALE_MS;
    expect((await read(call, id)).stale).toBe(true);
    expect((await page(call, { stale: true })).names).toEqual(["one"]);
  });

  test.each(["resume", "patch"])("that ended long ago is not stale after a %s", async (how) => {
    const call = callAs();
    const id = await made(call, "one");
    await fixture.client.updateRun({ runId: id, status: "failed" }, call);
    await asOwner(fixture, "UPDATE runs.runs SET created_at = created_at - interval '1 day' WHERE id = $1", [id]);
    if (how === "resume") await fixture.client.createRun({ id, mode: "resume" }, call);
    else await fixture.client.updateRun({ runId: id, status: "running" }, call);
    expect(await read(call, id)).toMatchObject({ status: "running", stale: false });
  });
});

describe("signs of life", () => {
  test("keep a run from being stale, by the clock of the service", async () => {
    const call = callAs();
    const id = await made(call, "one");
    fixture.clock.aheadMs = 10 * STALE_MS;
    expect((await read(call, id)).stale).toBe(true);
    await record(sign(call, id, 5000));
    const run = await read(call, id);
    expect(run.stale).toBe(false);
    expect(Math.abs(Date.parse(run.lastSeenAt) - (Date.now() + 10 * STALE_MS - 5000))).toBeLessThan(30_000);
  });

  test("that are older never replace a newer one, in one report or in two", async () => {
    const call = callAs();
    const id = await made(call, "one");
    fixture.clock.aheadMs = STALE_MS;
    await record(sign(call, id, 100_000), sign(call, id, 20_000));
    const before = await read(call, id);
    await record(sign(call, id, 300_000));
    expect((await read(call, id)).lastSeenAt).toBe(before.lastSeenAt);
    expect(Date.now() + STALE_MS - Date.parse(before.lastSeenAt)).toBeLessThan(60_000);
  });

  test("of runs that are not there, of another organization, or without an id leave nothing behind", async () => {
    const [call, other] = [callAs(), callAs()];
    const id = await made(call, "one");
    const unknown = randomUUID();
    await record(sign(other, id), sign(call, unknown), sign(call, "x"), { orgId: "", runId: id, ageMs: 0n });
    const stored = await asOwner(fixture, "SELECT run_id FROM runs.signs_of_life WHERE run_id = ANY ($1::uuid[])", [
      [id, unknown],
    ]);
    expect(stored).toEqual([]);
  });

  test("of a thousand runs are one report, and one more is refused", async () => {
    const call = callAs();
    const id = await made(call, "one");
    const signs = Array.from({ length: 1000 }, (_, i) => sign(call, i === 999 ? id : randomUUID()));
    await record(...signs);
    expect(await asOwner(fixture, "SELECT FROM runs.signs_of_life WHERE run_id = $1", [id])).toHaveLength(1);
    await expect(record(...signs, sign(call, id))).rejects.toMatchObject({ reason: "bad_request" });
  });

  test("change a row within its page, and the only index is that of the key", async () => {
    const call = callAs();
    const id = await made(call, "one");
    const place = async () => {
      const [row] = await asOwner<{ page: string; item: string }>(
        fixture,
        "SELECT split_part(ctid::text, ',', 1) AS page, split_part(ctid::text, ',', 2) AS item FROM runs.signs_of_life WHERE run_id = $1",
        [id],
      );
      return row;
    };
    await record(sign(call, id, 60_000));
    const before = await place();
    await record(sign(call, id));
    const after = await place();
    expect(after?.page).toBe(before?.page);
    expect(after?.item).not.toBe(before?.item);
    const [{ indexes }] = (await asOwner(
      fixture,
      "SELECT count(*)::int AS indexes FROM pg_indexes WHERE schemaname = 'runs' AND tablename = 'signs_of_life'",
      [],
    )) as [{ indexes: number }];
    expect(indexes).toBe(1);
  });
});

describe("lists by staleness", () => {
  const seeded = async () => {
    const call = callAs();
    const ids: Record<string, string> = {};
    for (const name of ["dead-1", "dead-2", "dead-3", "alive", "done"]) ids[name] = await made(call, name);
    await fixture.client.updateRun({ runId: ids["done"]!, status: "finished" }, call);
    fixture.clock.aheadMs = 2 * STALE_MS;
    await record(sign(call, ids["alive"]!));
    return { call, ids };
  };

  test("show stale runs or all others, with exact totals", async () => {
    const { call } = await seeded();
    expect(await page(call, { stale: true })).toMatchObject({
      names: ["dead-3", "dead-2", "dead-1"],
      stale: [true, true, true],
      total: 3,
    });
    expect(await page(call, { stale: false })).toMatchObject({
      names: ["done", "alive"],
      stale: [false, false],
      total: 2,
    });
    expect(await page(call, {})).toMatchObject({ total: 5 });
  });

  test("join other filters and searches, with words and with expressions", async () => {
    const { call } = await seeded();
    expect(await page(call, { stale: true, status: "finished" })).toMatchObject({ names: [], total: 0 });
    expect(await page(call, { stale: false, status: "running" })).toMatchObject({ names: ["alive"], total: 1 });
    expect(await page(call, { stale: true, q: "name:dead-2" })).toMatchObject({ names: ["dead-2"], total: 1 });
    expect(await page(call, { stale: false, q: "name:dead-2" })).toMatchObject({ names: [], total: 0 });
    expect(await page(call, { stale: true, q: "re:/dead-[13]/" })).toMatchObject({
      names: ["dead-3", "dead-1"],
      total: 2,
    });
  });

  test.each(["created", "name", "status", "duration", "metric-best"])(
    "page by cursors, sorted by %s",
    async (sortBy) => {
      const { call } = await seeded();
      for (const stale of [true, false]) {
        const query = { order: { sortBy, metricKey: "loss" }, limit: 1 };
        const whole = await page(call, { stale }, { ...query, limit: 100 });
        const names: unknown[] = [];
        let cursor = "";
        do {
          const next = await page(call, { stale }, { ...query, cursor });
          expect(next.total).toBe(whole.total);
          names.push(...next.names);
          cursor = next.next;
        } while (cursor !== "");
        expect(names).toEqual(whole.names);
        expect(names).toHaveLength(whole.total);
      }
    },
  );

  test("are those of the overview", async () => {
    const { call } = await seeded();
    const overview = (stale: boolean) => fixture.client.getOverview({ filter: { stale }, metricKey: "loss" }, call);
    expect(await overview(true)).toMatchObject({ totalRuns: 3n, activeRuns: 3n });
    expect(await overview(false)).toMatchObject({ totalRuns: 2n, activeRuns: 1n });
  });
});
