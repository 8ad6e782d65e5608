import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { importChunk } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";

/** Every list with a search text: its path, and its rows. */
const LISTS = [
  ["/runs", "runs"],
  ["/api/runs/summary", "runs"],
  ["/api/projects/:project/keys", "keys"],
  ["/api/runs/:run/logs", "lines"],
  ["/api/traces?project_id=:project", "traces"],
  ["/api/objects/explorer", "objects"],
  ["/api/artifact-collections", "collections"],
] as const;

describeModes("a search text that cannot be stored", (stack) => {
  test("finds nothing in any list, and is not an error", async () => {
    const { api } = await stack().organization();
    const run = { source_run_id: "a", name: "word" };
    const refs = [{ source_run_id: "a", name: "word" }];
    const points = [{ source_run_id: "a", key: "word", step: 1, value: 1 }];
    await importChunk(api, { runs: [run], metric_points: points, artifact_refs: refs });
    const [{ id, project_id }] = (await api.get("/runs")).json.runs;
    await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "word" }] });
    await api.post(`/api/runs/${id}/objects`, { key: "word", kind: "table", step: 1, rows: [{ a: 1 }] });
    const ids = { trace_id: randomBytes(16).toString("hex"), span_id: "00".repeat(7) + "01", event_id: randomUUID() };
    const kinds = { sequence: 1, event_kind: "finished", kind: "rollout", status: "ok", name: "word" };
    const event = { ...ids, ...kinds, started_at: new Date().toISOString() };
    const headers = { "idempotency-key": randomUUID() };
    await api.post(`/api/runs/${id}/traces/events`, { events: [event] }, { headers });
    const found: unknown[] = [];
    for (const [template, rows] of LISTS) {
      const path = template.replace(":run", id).replace(":project", project_id);
      const rowsOf = async (query: string) => {
        const { status, json } = await api.get(`${path}${path.includes("?") ? "&" : "?"}${query}`);
        return [status, json[rows]?.length];
      };
      const searches = ["q=", "q=%00", "q=wor%00d", "q=word%00"];
      found.push([template, ...(await Promise.all(searches.map(rowsOf)))]);
    }
    expect(found).toEqual(LISTS.map(([path]) => [path, [200, expect.any(Number)], [200, 0], [200, 0], [200, 0]]));
    for (const row of found) expect((row as [string, [number, number]])[1][1]).toBeGreaterThan(0);
    expect((await api.get("/api/overview?q=%00")).json).toMatchObject({ overview: { total_runs: 0 } });
    const groups = { q: "\0", keys: ["word"], by: [] };
    expect((await api.post("/api/metrics/groups", groups)).json).toMatchObject({ groups: [] });
  });
});
