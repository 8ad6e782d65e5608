import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";

const PATH = "/api/runs/bulk-update";

describeModes("bulk updates", (stack) => {
  const runs = async (count: number): Promise<{ api: Api; ids: string[] }> => {
    const { api } = await stack().organization();
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      ids.push((await api.post("/runs", { project: "p", name: `n${i}` })).json.run.id);
    }
    return { api, ids };
  };

  test("change status, tags and notes of what a filter finds, and stop signals know", async () => {
    const { api, ids } = await runs(3);
    const [, , last] = ids;
    await api.patch(`/runs/${ids[0]}`, { status: "finished" });
    await api.post(`/api/runs/${last}/stop`, {});
    const set = { status: "failed", tags: ["a", "b"], notes: "why" };
    const answer = await api.post(PATH, { filter: { project: "p", status: "running", limit: null, q: "" }, set });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      matched: 2,
      updated: 2,
      failed: 0,
      results: [{ run_ids: [last, ids[1]], ok: true }],
    });
    const { run } = (await api.get(`/runs/${last}`)).json;
    expect(run).toMatchObject({ ...set, finished_at: expect.any(String), run_control: { display_status: "failed" } });
    expect((await api.get(`/api/runs/${last}/stop-signal`)).json).toMatchObject({ terminal: true });
    expect((await api.get("/runs?q=tag:a%20notes:why&status=failed")).json.runs).toHaveLength(2);
    const cleared = await api.post(PATH, { run_ids: ids, set: { tags: [], notes: "" } });
    expect(cleared.json).toMatchObject({ matched: 3, updated: 3 });
    expect((await api.get(`/runs/${last}`)).json.run).toMatchObject({ tags: [], notes: null, status: "failed" });
  });

  test("of all parameters of GET /runs find what the list shows", async () => {
    const { api, ids } = await runs(3);
    for (const filter of [
      {},
      { project: "all", status: "all", display_status: "all", stale: "all", deleted: "false" },
      { project: "none" },
      { status: "finished" },
      { display_status: "running", limit: "2" },
      { stale: "false", sort_by: "name", limit: "1", offset: "1" },
      { q: "name:re:/n[12]/", metric_key: "loss" },
    ]) {
      const query = new URLSearchParams(filter as Record<string, string>).toString();
      const listed = ((await api.get(`/runs?${query}`)).json.runs as { id: string }[]).map(({ id }) => id);
      const { json } = await api.post(PATH, { filter, set: { notes: "n" }, dry_run: true });
      expect([filter, json.matched, json.updated]).toEqual([filter, listed.length, 0]);
      const found = (json.results as { run_ids: string[] }[]).flatMap(({ run_ids: some }) => some);
      expect(found.toSorted()).toEqual(listed.toSorted());
    }
    expect((await api.get(`/runs/${ids[0]}`)).json.run.notes).toBeNull();
  });

  test("fail by hundreds, with 200", async () => {
    const { api, ids } = await runs(2);
    const strange = (await runs(1)).ids;
    const missing = Array.from({ length: 99 }, () => randomUUID());
    const { status, json } = await api.post(PATH, {
      run_ids: [ids[0], ...missing, ids[1]!.toUpperCase(), ids[1]],
      set: { notes: "n" },
    });
    expect([status, json]).toEqual([
      200,
      {
        matched: 101,
        updated: 1,
        failed: 100,
        results: [
          { run_ids: [ids[0], ...missing], ok: false, error: "not_found_or_unauthorized" },
          { run_ids: [ids[1]], ok: true },
        ],
      },
    ]);
    expect((await api.get(`/runs/${ids[0]}`)).json.run.notes).toBeNull();
    const foreign = await api.post(PATH, { run_ids: strange, set: { status: "failed" } });
    expect(foreign.json).toMatchObject({ matched: 1, updated: 0, failed: 1, results: [{ ok: false }] });
  });

  const id = randomUUID();
  const set = { notes: "n" };
  test.each<[string, object, string]>([
    ["neither a filter nor ids", { set }, "filter"],
    ["both", { filter: {}, run_ids: [id], set }, "run_ids"],
    ["a filter that is not an object", { filter: "x", set }, "filter"],
    ["a filter with a number", { filter: { limit: 5 }, set }, "filter"],
    ["an unknown order", { filter: { sort_by: "x" }, set }, "sort_by"],
    ["a limit of 1,001", { filter: { limit: "1001" }, set }, "limit"],
    ["stale that is none of its words", { filter: { stale: "x" }, set }, "stale"],
    ["deleted runs", { filter: { deleted: "true" }, set }, "deleted"],
    ["no ids", { run_ids: [], set }, "run_ids"],
    ["10,001 ids", { run_ids: Array.from({ length: 10_001 }, () => id), set }, "run_ids"],
    ["an id that is none", { run_ids: ["x"], set }, "run_ids"],
    ["nothing to set", { run_ids: [id], set: {} }, "set"],
    ["only nulls to set", { run_ids: [id], set: { tags: null, status: null, notes: null } }, "set"],
    ["no set", { run_ids: [id] }, "set"],
    ["a name", { run_ids: [id], set: { name: "n" } }, "set"],
    ["an unknown status", { run_ids: [id], set: { status: "paused" } }, "status"],
    ["notes of 513 bytes", { run_ids: [id], set: { notes: "n".repeat(513) } }, "notes"],
    ["tags that are not a list", { run_ids: [id], set: { tags: "t" } }, "tags"],
    ["dry_run that is a text", { run_ids: [id], set, dry_run: "true" }, "dry_run"],
  ])("with %s are 400", async (_what, body, field) => {
    const { api } = await stack().organization();
    expect(await api.post(PATH, body)).toMatchObject({ status: 400, json: { field } });
  });

  test("with a search that is wrong are 400 with its code", async () => {
    const { api } = await stack().organization();
    const answer = await api.post(PATH, { filter: { q: "a".repeat(513) }, set });
    expect(answer).toMatchObject({ status: 400, json: { code: "run_search_invalid", field: "q" } });
  });

  test("with a key happen once", async () => {
    const { api, ids } = await runs(1);
    const key = { headers: { "idempotency-key": randomUUID() } };
    const body = { filter: { status: "running" }, set: { status: "finished" } };
    const first = await api.post(PATH, body, key);
    await api.patch(`/runs/${ids[0]}`, { status: "running" });
    const again = await api.post(PATH, body, key);
    expect([again.status, again.json, again.headers["idempotency-replayed"]]).toEqual([200, first.json, "true"]);
    expect((await api.get(`/runs/${ids[0]}`)).json.run.status).toBe("running");
    const other = await api.post(PATH, { ...body, set: { status: "failed" } }, key);
    expect(other).toMatchObject({ status: 409, json: { code: "idempotency_key_reused" } });
  });

  test("need what PATCH needs", async () => {
    const { orgId, key } = await stack().organization({ scopes: ["export:read", "runs:control"] });
    expect(orgId).not.toBe("");
    expect((await stack().api.as(key).post(PATH, { filter: {}, set })).status).toBe(403);
    expect((await stack().api.post(PATH, { filter: {}, set })).status).toBe(401);
    const team = await createTeam(stack());
    await team.owner.browser.post("/runs", {});
    const [viewer, member] = [await team.join("viewer"), await team.join("member")];
    expect((await viewer.browser.post(PATH, { filter: {}, set })).status).toBe(403);
    expect(await member.browser.post(PATH, { filter: {}, set })).toMatchObject({ status: 200, json: { updated: 1 } });
  });
});
