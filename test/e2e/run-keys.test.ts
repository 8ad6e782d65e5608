import { describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { projectKey } from "../stack/run-control.ts";

type Key = { name: string; kind: string; run_count: number };
const keysIn = (answer: Answer): string[] =>
  (answer.json.keys as Key[]).map(({ name, kind, run_count }) => `${name} ${kind} ${run_count}`);

describeModes("keys of projects", (stack) => {
  const keysOf = (api: Api, projectId: string, query: Record<string, string> = {}): Promise<Answer> =>
    api.get(`/api/projects/${projectId}/keys?${new URLSearchParams(query).toString()}`);

  const twoRuns = async () => {
    const organization = await stack().organization();
    const { api } = organization;
    const a = (await api.post("/runs", { project: "p", config: { lr: 1, opt: { name: "x" } } })).json.run;
    const b = (await api.post("/runs", { project: "p", config: { lr: 2 } })).json.run;
    for (const id of [a.id, b.id]) await api.post(`/runs/${id}/metrics`, { metrics: { "val/loss": 1 }, step: 0 });
    await api.post(`/api/runs/${b.id}/attributes`, { path: "config/wd", type: "config", value: 1 });
    return { ...organization, projectId: a.project_id as string, ids: [a.id as string, b.id as string] };
  };
  const all = ["config/wd attribute 1", "lr config 2", "opt.name config 1", "val/loss metric 2", "wd config 1"];

  test("are those of metrics, attributes and configs, with the numbers of runs", async () => {
    const { api, projectId, ids } = await twoRuns();
    const answer = await keysOf(api, projectId);
    expect([answer.status, keysIn(answer), answer.json.next_cursor]).toEqual([200, all, null]);
    const paged: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await keysOf(api, projectId, { limit: "2", cursor });
      paged.push(...keysIn(page));
      cursor = page.json.next_cursor as string | null;
    }
    expect(paged).toEqual(all);
    expect(keysIn(await keysOf(api, projectId, { kind: "config", prefix: "l" }))).toEqual(["lr config 2"]);
    expect(keysIn(await keysOf(api, projectId, { q: "LOSS" }))).toEqual(["val/loss metric 2"]);
    expect(keysIn(await keysOf(api, projectId, { q: String.raw`re:/^opt\.|loss$/` }))).toEqual([all[2], all[3]]);
    expect(keysIn(await keysOf(api, projectId, { run_ids: ids[0]! }))).toEqual([
      "lr config 1",
      "opt.name config 1",
      "val/loss metric 1",
    ]);
  });

  test("follow every write and deletion", async () => {
    const { api, projectId, ids } = await twoRuns();
    expect(keysIn(await keysOf(api, projectId))).toEqual(all);
    await api.post(`/runs/${ids[0]}/metrics`, { metrics: { acc: 1 }, step: 1 });
    expect(keysIn(await keysOf(api, projectId, { kind: "metric" }))).toEqual(["acc metric 1", "val/loss metric 2"]);
    await api.post(`/api/runs/${ids[0]}/attributes`, { path: "note", type: "config", value: 1 });
    expect(keysIn(await keysOf(api, projectId, { prefix: "note" }))).toEqual(["note attribute 1"]);
    await api.call("DELETE", `/runs/${ids[0]}`);
    expect(keysIn(await keysOf(api, projectId, { kind: "metric" }))).toEqual(["val/loss metric 1"]);
  });

  test("404 for a project that the caller cannot see, before any fault of the query", async () => {
    const organization = await twoRuns();
    const { projectId } = organization;
    const foreign = (await stack().organization()).api;
    const scoped = await projectKey(stack(), organization.orgId, "other", ["export:read"]);
    const asks = [
      keysOf(foreign, projectId, { kind: "x" }),
      keysOf(organization.api, randomUUID()),
      keysOf(organization.api, "x"),
      keysOf(scoped, projectId),
    ];
    for (const answer of await Promise.all(asks)) expect(answer.status).toBe(404);
    const elsewhere = (await organization.api.post("/runs", { project: "q" })).json.run.id as string;
    expect((await keysOf(organization.api, projectId, { run_ids: elsewhere })).status).toBe(404);
  });

  describe("400", () => {
    test.each([
      ["an unknown kind", { kind: "metrics" }, "kind"],
      ["a limit of 0", { limit: "0" }, "limit"],
      ["a limit of 1001", { limit: "1001" }, "limit"],
      ["a regular expression that is not valid", { q: "re:/(/" }, "q"],
      ["a regular expression that matches everything", { q: "re:/x*/" }, "q"],
      ["a cursor of nothing", { cursor: "x" }, "cursor"],
      ["ids that are none", { run_ids: "x" }, "run_ids"],
    ])("for %s", async (_what, query: Record<string, string>, field) => {
      const { api } = await stack().organization();
      const { project_id: projectId } = (await api.post("/runs", {})).json.run;
      expect(await keysOf(api, projectId, query)).toMatchObject({ status: 400, json: { field } });
    });
  });
});
