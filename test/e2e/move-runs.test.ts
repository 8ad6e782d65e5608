import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator } from "../stack/people.ts";

const MOVE = "/api/runs/move";

describeModes("moves of runs", (stack) => {
  const makeRun = async (api: Api, project: string): Promise<string> =>
    (await api.post("/runs", { project })).json.run.id as string;
  const projectId = async (api: Api, name: string): Promise<string> =>
    (await api.get(`/projects?name=${name}`)).json.projects[0].id as string;

  test("take everything that was logged along", async () => {
    const { api, orgId } = await stack().organization();
    const id = await makeRun(api, "from");
    const other = await makeRun(api, "from");
    await api.post(`/runs/${id}/metrics`, { step: 1, metrics: { loss: 0.5 } });
    const rows = await api.post(`/api/runs/${id}/objects`, { key: "samples", kind: "table", rows: [{ a: 1 }] });
    const event = {
      event_id: randomUUID(),
      sequence: 1,
      event_kind: "finished",
      name: "root",
      kind: "rollout",
      status: "ok",
    };
    const span = { trace_id: "1".repeat(32), span_id: "2".repeat(16), started_at: new Date().toISOString() };
    const traced = await api.post(
      `/api/runs/${id}/traces/events`,
      { events: [{ ...span, ...event }] },
      { headers: { "idempotency-key": randomUUID() } },
    );
    expect([rows.status, traced.status]).toEqual([200, 200]);
    const moved = await api.post(MOVE, { run_ids: [id], project: "to" });
    expect([moved.status, moved.json]).toEqual([
      200,
      { matched: 1, updated: 1, failed: 0, results: [{ run_ids: [id], ok: true }] },
    ]);
    expect((await api.get(`/runs/${id}`)).json.run).toMatchObject({ project: "to" });
    const ids = async (project: string): Promise<string[]> =>
      (await api.get(`/runs?project=${project}`)).json.runs.map((run: { id: string }) => run.id);
    expect([await ids("to"), await ids("from")]).toEqual([[id], [other]]);
    const points = async (project: string): Promise<number> =>
      (await api.get(`/api/overview?project=${project}`)).json.overview.metric_points;
    expect([await points("to"), await points("from")]).toEqual([1, 0]);
    const keys = (await api.get(`/api/projects/${await projectId(api, "to")}/keys?kind=metric`)).json.keys;
    expect(keys).toEqual([{ name: "loss", kind: "metric", run_count: 1 }]);
    const listed = async (path: string): Promise<number[]> => {
      const inProject = async (name: string): Promise<number> => {
        const { json } = await api.get(`${path}project_id=${await projectId(api, name)}`);
        return (json.traces ?? json.objects).length as number;
      };
      return [await inProject("to"), await inProject("from")];
    };
    expect(await listed("/api/traces?")).toEqual([1, 0]);
    expect(await listed("/api/objects/explorer?kind=table&")).toEqual([1, 0]);
    const scopedTo = async (name: string): Promise<Api> => {
      const body = { name, scopes: ["sdk:ingest", "export:read"], project_id: await projectId(api, name) };
      const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, body, asOperator(stack()));
      return stack().api.as(made.json.api_key as string);
    };
    const [inside, outside] = [await scopedTo("to"), await scopedTo("from")];
    const seen = [inside, outside].map(async (key) => (await key.get(`/runs/${id}`)).status);
    expect(await Promise.all(seen)).toEqual([200, 404]);
    expect((await inside.post(MOVE, { run_ids: [id], project: "from" })).status).toBe(403);
  });

  test("while points arrive count each point in the project of its run", async () => {
    const { api } = await stack().organization();
    const ids = [await makeRun(api, "a"), await makeRun(api, "a"), await makeRun(api, "a")];
    const statuses: number[] = [];
    const write = async (id: string, worker: number): Promise<void> => {
      for (let i = 0; i < 12; i++) {
        const metrics = { [`k${worker}-${i % 3}`]: i };
        statuses.push((await api.post(`/runs/${id}/metrics`, { step: i, metrics })).status);
      }
    };
    const move = async (): Promise<void> => {
      for (const project of ["b", "c", "a", "b"]) {
        statuses.push((await api.post(MOVE, { run_ids: ids, project })).status);
      }
    };
    await Promise.all([move(), ...ids.flatMap((id) => [write(id, 1), write(id, 2)])]);
    await api.post(MOVE, { run_ids: ids.slice(1), project: "c" });
    expect(new Set(statuses)).toEqual(new Set([200]));
    const points = async (project: string): Promise<number> =>
      (await api.get(`/api/overview?project=${project}`)).json.overview.metric_points;
    expect([await points("a"), await points("b"), await points("c")]).toEqual([0, 24, 48]);
  });
});
