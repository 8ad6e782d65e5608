import { randomUUID } from "node:crypto";
import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Tx } from "@tidemark/pg";
import { openRunDirectory, startControl, type Control } from "../control.fixture.ts";
import { runUpkeep } from "../upkeep/upkeep.ts";
import { readChangedPage, readRunningPage } from "./run-states.sql.ts";
import { newRun, newRuns, patch } from "./runs.fixture.ts";
import { floorOf } from "./live-runs.rules.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const NIL = "00000000-0000-0000-0000-000000000000";

/** Returns all running runs, page after page, and the snapshot to continue from. */
async function snapshot(limit = 1000) {
  const ids: string[] = [];
  let first: string | undefined;
  let after = { orgId: NIL, id: NIL };
  for (;;) {
    const page = await readRunningPage(control.db, { after, limit });
    first ??= page.snapshot;
    ids.push(...page.rows.map(({ id }) => id));
    const last = page.rows.at(-1);
    if (last === undefined || page.rows.length < limit) return { ids, since: first };
    after = { orgId: last.org_id, id: last.id };
  }
}

/** Returns what changed since a snapshot, page after page. */
async function changes(since: string, limit = 1000) {
  const found: [id: string, status: string][] = [];
  let first: string | undefined;
  let after = { xid: String(floorOf(since)), id: NIL };
  for (;;) {
    const page = await readChangedPage(control.db, { since, after, limit });
    first ??= page.snapshot;
    found.push(...page.rows.map(({ id, status }): [string, string] => [id, status]));
    if (page.last === undefined || page.rows.length < limit) return { found, since: first };
    after = page.last;
  }
}

/** Begins a transaction that stays open until `commit` is called. */
function openTransaction(orgId: string, work: (tx: Tx) => Promise<unknown>) {
  const worked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const enter = testSql("SELECT platform.enter_org($1)");
  const done = control.ownerDb.transaction(async (tx) => {
    await tx.rows(enter, [orgId]);
    await work(tx);
    worked.resolve();
    await held.promise;
  });
  return {
    worked: worked.promise,
    commit: async () => {
      held.resolve();
      await done;
    },
  };
}

describe("the snapshot", () => {
  test("holds running runs of all organizations once, in pages of any size, and no ended ones", async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const wanted = [...(await newRuns(control, one, 5)).ids, ...(await newRuns(control, two, 4)).ids];
    const { ids: ended } = await newRuns(control, one, 2, "finished");
    for (const limit of [1000, 2, 1]) {
      const { ids } = await snapshot(limit);
      expect(ids.filter((id) => wanted.includes(id)).toSorted()).toEqual(wanted.toSorted());
      expect(ids.filter((id) => ended.includes(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test("of a run that changes while it is paged, the change is returned afterwards", async () => {
    const orgId = randomUUID();
    const { ids } = await newRuns(control, orgId, 3);
    const page = await readRunningPage(control.db, { after: { orgId, id: NIL }, limit: 1 });
    await patch(control.ownerDb, ids[2]!, "failed");
    const { found } = await changes(page.snapshot);
    expect(found).toEqual([[ids[2], "failed"]]);
  });
});

describe("changes", () => {
  test("are new runs, and changes of status and stop state by whichever statement; not of documents", async () => {
    const orgId = randomUUID();
    const { id: before } = await newRun(control, orgId);
    let { since } = await snapshot();
    const next = async () => {
      const page = await changes(since);
      ({ since } = page);
      return page.found;
    };
    expect(await next()).toEqual([]);
    const { id } = await newRun(control, orgId);
    expect(await next()).toEqual([[id, "running"]]);
    await patch(control.ownerDb, before, "finished");
    expect(await next()).toEqual([[before, "finished"]]);
    for (const [what, set] of [
      ["a stop", "stop_state = 'requested', stop_request_id = gen_random_uuid(), stop_requested_at = now()"],
      ["an acknowledgement", "stop_state = 'acknowledged', stop_acknowledged_at = now()"],
      ["a later time", "stop_acknowledged_at = now() + interval '1 second'"],
      ["another request", "stop_request_id = gen_random_uuid()"],
    ] as const) {
      await control.ownerDb.rows(testSql(`UPDATE runs.runs SET ${set} WHERE id = $1`), [id]);
      expect([what, await next()]).toEqual([what, [[id, "running"]]]);
    }
    const documents = "tags = '{x}', metadata = '{\"a\":1}', stop_reason = 'r', status = status";
    await control.ownerDb.rows(testSql(`UPDATE runs.runs SET ${documents} WHERE id = $1`), [id]);
    expect(await next()).toEqual([]);
  });

  test("are never missed, whichever of two transactions ends first", async () => {
    const orgId = randomUUID();
    const { ids } = await newRuns(control, orgId, 2);
    const start = (await snapshot()).since;
    // The one that began first, and so has the lower number, commits last.
    const slow = openTransaction(orgId, (tx) => patch(tx, ids[0]!, "failed"));
    await slow.worked;
    await patch(control.ownerDb, ids[1]!, "finished");
    const between = await changes(start);
    expect(between.found).toEqual([[ids[1], "finished"]]);
    await slow.commit();
    // Changes that were seen already are not returned again, although a lower number was open then.
    expect((await changes(between.since)).found).toEqual([[ids[0], "failed"]]);
  });

  test("that fall between two pages are returned by the next read", async () => {
    const orgId = randomUUID();
    const { ids } = await newRuns(control, orgId, 4);
    const start = (await snapshot()).since;
    const slow = openTransaction(orgId, (tx) => patch(tx, ids[0]!, "failed"));
    await slow.worked;
    for (const id of ids.slice(1)) await patch(control.ownerDb, id, "finished");
    const after = { xid: String(floorOf(start)), id: NIL };
    const first = await readChangedPage(control.db, { since: start, after, limit: 1 });
    await slow.commit();
    const rest = await readChangedPage(control.db, { since: start, after: first.last!, limit: 10 });
    const next = await changes(first.snapshot);
    const seen = [...first.rows, ...rest.rows].map(({ id }) => id).concat(next.found.map(([id]) => id));
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  test("of one transaction are returned in pages", async () => {
    const start = (await snapshot()).since;
    const { ids } = await newRuns(control, randomUUID(), 7);
    for (const limit of [1, 2, 7, 100]) {
      const { found } = await changes(start, limit);
      expect(found.map(([id]) => id).toSorted()).toEqual(ids.toSorted());
    }
  });

  test("of a run from before changes were marked are told when they happen", async () => {
    const { id } = await newRun(control, randomUUID());
    await control.ownerDb.rows(testSql("UPDATE runs.runs SET changed_xid = NULL WHERE id = $1"), [id]);
    const { ids, since } = await snapshot();
    expect(ids).toContain(id);
    await patch(control.ownerDb, id, "finished");
    expect((await changes(since)).found).toEqual([[id, "finished"]]);
  });
});

test("runs that came from another server are told until upkeep gives them a number of this one", async () => {
  const { ids } = await newRuns(control, randomUUID(), 3);
  const readAll = async () => {
    const page = await changes((await snapshot()).since);
    return page.found.map(([id]) => id).toSorted();
  };
  const foreign = testSql("UPDATE runs.runs SET changed_xid = '99999999999' WHERE id = ANY ($1)");
  await control.ownerDb.rows(foreign, [ids]);
  expect(await readAll()).toEqual(ids.toSorted());
  const { since } = await snapshot();
  const report = await runUpkeep({ db: control.db, workerDb: control.workerDb, now: control.now() });
  expect(report.runChanges).toBe(3);
  expect((await changes(since)).found).toHaveLength(3);
  expect(await readAll()).toEqual([]);
});

test("memory holds those that run", async () => {
  const orgId = randomUUID();
  const { ids } = await newRuns(control, orgId, 50);
  const runs = openRunDirectory(control.db, 7);
  await runs.catchUp();
  expect(runs.loaded()).toBe(true);
  for (const id of ids) expect(await runs.find(orgId, id)).toMatchObject({ status: "running" });
  expect(runs.count().running).toBe((await snapshot()).ids.length);
  await patch(control.ownerDb, ids[0]!, "failed");
  await runs.catchUp();
  expect(await runs.find(orgId, ids[0]!)).toMatchObject({ status: "failed" });
  await runs.stop();
});
