import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";

type Panel = Readonly<Record<string, unknown>>;
type Row = { readonly id: string; readonly values: Record<string, unknown> };
type Grid = {
  readonly block: number;
  readonly runs: readonly Row[];
  readonly series: readonly { readonly run_id: string; readonly key: string; readonly columns: { value: number[] } }[];
};

const grid = (pinned: readonly string[], panels: readonly Panel[], projects: readonly string[] = []) => ({
  kind: "panel_grid",
  runsets: [{ name: "main", projects, pinned_run_ids: pinned }],
  panels,
});
const line = (key: string): Panel => ({ type: "line", metric_key: key });

async function makeRun(api: Api, project: string, metrics: Record<string, number>, more: object = {}): Promise<string> {
  const body = { name: `run of ${project}`, project, config: { lr: 0.1, seed: 1, secret: "hush" }, ...more };
  const { id } = (await api.post("/runs", body)).json.run as { id: string };
  const points = [0, 1].map((step) => ({ step, metrics }));
  expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
  return id;
}

async function makeReport(api: Pick<Api, "post">, blocks: readonly unknown[], more: object = {}): Promise<string> {
  const answer = await api.post("/api/reports", { title: "Weekly", blocks, ...more });
  expect(answer.status).toBe(200);
  return answer.json.report.id as string;
}

async function share(api: Pick<Api, "post">, id: string, body: object = { extent: "data" }): Promise<string> {
  const answer = await api.post(`/api/reports/${id}/share`, body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json.report.share_token as string;
}

describeModes("the data of a shared report", (stack) => {
  const open = (token: string, body: object = {}, query = "") =>
    stack().api.post(`/api/reports/share/${token}/view-data${query}`, body);
  const gridsOf = async (token: string, body: object = {}): Promise<readonly Grid[]> => {
    const answer = await open(token, body);
    expect([answer.status, answer.json.error, answer.headers["cache-control"]]).toEqual([
      200,
      undefined,
      "private, no-store",
    ]);
    return answer.json.view_data.grids as Grid[];
  };

  test("are exactly what its panels show, whatever a reader asks for", async () => {
    const { api, orgId } = await stack().organization();
    const a = await makeRun(api, "p", { loss: 2, acc: 0.5, hidden: 7 });
    const b = await makeRun(api, "p", { loss: 3, acc: 0.6, hidden: 8 });
    const c = await makeRun(api, "p", { loss: 4 });
    const id = await makeReport(api, [
      { kind: "paragraph", text: "x" },
      grid([a], [line("loss")]),
      grid(
        [b],
        [{ type: "run_comparer", run_ids: [], fields: ["config.lr", "metrics.acc.best", "name", "config.none"] }],
      ),
      grid([a, b], [{ type: "markdown_panel", text: "no data" }]),
    ]);
    const token = await share(api, id);
    const [first, second, ...others] = await gridsOf(token, {
      run_ids: [c],
      view: { sections: [{ panels: [{ metricKey: "hidden" }] }] },
      options: { metric_point_limit: 5000 },
      blocks: [grid([c], [line("hidden")])],
    });
    expect(others).toEqual([]);
    expect(first).toMatchObject({ block: 1, runs: [{ id: a, name: "run of p", status: "running", values: {} }] });
    expect(first!.series.map(({ run_id: run, key, columns }) => [run, key, columns.value])).toEqual([
      [a, "loss", [2, 2]],
    ]);
    expect(second).toMatchObject({ block: 2, series: [] });
    expect(second!.runs).toEqual([
      {
        id: b,
        name: "run of p",
        status: "running",
        values: { "config.lr": 0.1, "metrics.acc.best": 0.6, name: "run of p" },
      },
    ]);
    const { text } = await open(token);
    for (const secret of ["hush", "hidden", orgId, c, "seed"]) expect(text).not.toContain(secret);
    expect((await open(token, {}, `?run_ids=${c}&metric_key=hidden`)).text).not.toContain(c);
  });

  test("follow the report, or stay as they were when its author froze them", async () => {
    const { api } = await stack().organization();
    const run = await makeRun(api, "p", { loss: 2 }, { config: { seed: 1 } });
    const big = (
      await api.call("POST", "/runs", {
        rawBody: '{"name":"big","project":"p","config":{"seed":12345678901234567891}}',
        headers: { "content-type": "application/json" },
      })
    ).json.run.id as string;
    const table = { type: "run_comparer", run_ids: [], fields: ["config.seed"] };
    const live = await makeReport(api, [grid([run, big], [line("loss"), table])]);
    const frozen = await makeReport(api, [grid([run, big], [line("loss"), table])]);
    const [liveToken, frozenToken] = [
      await share(api, live),
      await share(api, frozen, { extent: "data", frozen: true }),
    ];
    expect((await api.get(`/api/reports/${frozen}`)).json.report).toMatchObject({
      share_extent: "data",
      share_frozen: true,
    });
    await api.post(`/runs/${run}/metrics`, { step: 5, metrics: { loss: 1 } });
    for (const id of [live, frozen]) {
      expect(
        (await api.patch(`/api/reports/${id}`, { blocks: [grid([run, big], [line("loss"), line("acc"), table])] }))
          .status,
      ).toBe(200);
    }
    const valuesOf = async (token: string) => (await gridsOf(token))[0]!.series.map(({ columns }) => columns.value);
    expect(await valuesOf(liveToken)).toEqual([[2, 2, 1], [], [], []]);
    expect(await valuesOf(frozenToken)).toEqual([[2, 2], []]);
    expect((await open(frozenToken)).text).toContain("12345678901234567891");
    // What is deleted is gone from frozen data as well, and the other numbers keep their digits.
    expect((await api.call("DELETE", `/runs/${run}`)).status).toBe(200);
    for (const token of [liveToken, frozenToken]) {
      const { text, json } = await open(token);
      expect(json.view_data.grids[0].runs).toMatchObject([{ id: big }]);
      expect(text).not.toContain(run);
      expect(text).toContain("12345678901234567891");
    }
  });

  test("are the newest runs of a project where none is pinned, and never those of others", async () => {
    const { api, orgId } = await stack().organization();
    const [own, other] = [await makeRun(api, "mine", { loss: 2 }), await makeRun(api, "other", { loss: 3 })];
    const foreign = await makeRun((await stack().organization()).api, "mine", { loss: 4 });
    const projectId = (await api.get(`/runs/${own}`)).json.run.project_id as string;
    const everything = [
      grid([], [line("loss")], ["mine", "other", "all"]),
      grid([other, foreign, own, own.toUpperCase(), "no id", randomUUID()], [line("loss")]),
    ];
    const runsOf = async (token: string) => (await gridsOf(token)).map(({ runs }) => runs.map(({ id }) => id));
    // A report of a project shows that project alone: those who write it may be limited to it.
    const scoped = await makeReport(api, everything, { project_id: projectId });
    expect(await runsOf(await share(api, scoped))).toEqual([[own], [own]]);
    const general = await makeReport(api, everything);
    expect(await runsOf(await share(api, general))).toEqual([
      [own, other],
      [other, own],
    ]);
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { project_id: projectId }, operator);
    const key = stack().api.as(made.json.api_key as string);
    const theirs = await makeReport(key, everything);
    expect(await runsOf(await share(key, theirs))).toEqual([[own], [own]]);
  });

  test("are bounded: 50 panels and 100 runs", async () => {
    const { api } = await stack().organization();
    const run = await makeRun(api, "p", { loss: 2 });
    const blocks = Array.from({ length: 60 }, () => grid([run], [line("loss")]));
    const { json } = await open(await share(api, await makeReport(api, blocks)));
    expect(json.view_data.grids).toHaveLength(50);
    expect(json.view_data.warnings).toEqual(["a report shows the data of 50 panels; others were left out"]);
    expect(json.view_data.limits).toMatchObject({ panels: 50, run_ids: 100, points_per_series: 500 });
  });

  describe("are refused", () => {
    test("for a link that opens the blocks, a public report, and a text that is not a link", async () => {
      const { api } = await stack().organization();
      const run = await makeRun(api, "p", { loss: 2 });
      const id = await makeReport(api, [grid([run], [line("loss")])], { visibility: "public" });
      for (const token of [await share(api, id, {}), id, "tm_share_x", randomUUID()]) {
        expect([token, (await open(token)).status]).toEqual([token, 404]);
      }
      expect((await api.get(`/api/reports/${id}`)).json.report.share_extent).toBe("blocks");
      const seen = (await stack().api.get(`/api/reports/${id}`)).json.report as object;
      expect(seen).not.toHaveProperty("share_extent");
    });

    test.each<[string, (api: Api, ids: { report: string; run: string; project: string }) => Promise<unknown>]>([
      ["the link was ended", (api, { report }) => api.call("DELETE", `/api/reports/${report}/share`)],
      ["the link was replaced", (api, { report }) => share(api, report)],
      ["it was shared again without data", (api, { report }) => share(api, report, { extent: "blocks" })],
      ["the report was deleted", (api, { report }) => api.call("DELETE", `/api/reports/${report}`)],
    ])("as soon as %s", async (_what, end) => {
      const { api } = await stack().organization();
      const run = await makeRun(api, "p", { loss: 2 });
      for (const frozen of [false, true]) {
        const report = await makeReport(api, [grid([run], [line("loss")])]);
        const token = await share(api, report, { extent: "data", frozen });
        expect((await open(token)).status).toBe(200);
        await end(api, { report, run, project: "p" });
        expect((await open(token)).status).toBe(404);
      }
    });

    test("as soon as the project or the organization is deleted", async () => {
      const team = await createTeam(stack());
      const { browser } = team.owner;
      const run = (await browser.post("/runs", { name: "r", project: "p" })).json.run as {
        id: string;
        project_id: string;
      };
      const blocks = [grid([run.id], [line("loss")])];
      const general = await share(browser, await makeReport(browser, blocks));
      const own = await share(browser, await makeReport(browser, blocks, { project_id: run.project_id }));
      expect((await gridsOf(general))[0]!.runs).toHaveLength(1);
      expect((await browser.call("DELETE", `/projects/${run.project_id}`)).status).toBe(200);
      expect((await gridsOf(general))[0]!.runs).toEqual([]);
      expect((await open(own)).status).toBe(404);
      expect((await browser.call("DELETE", `/api/orgs/${team.orgId}`)).status).toBe(200);
      expect((await open(general)).status).toBe(404);
    });

    test("to callers who may not read: they neither share data nor choose panels of what is shared", async () => {
      const { api, orgId } = await stack().organization();
      const run = await makeRun(api, "p", { loss: 2 });
      const id = await makeReport(api, []);
      const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
      const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { scopes: ["sdk:ingest"] }, operator);
      const writer = stack().api.as(made.json.api_key as string);
      for (const frozen of [false, true]) {
        const refused = await writer.post(`/api/reports/${id}/share`, { extent: "data", frozen });
        expect([frozen, refused.status]).toEqual([frozen, 403]);
      }
      expect((await writer.post(`/api/reports/${id}/share`)).status).toBe(200);
      const blocks = [grid([run], [line("loss")])];
      expect((await writer.patch(`/api/reports/${id}`, { blocks })).status).toBe(200);
      await share(api, id);
      expect((await writer.patch(`/api/reports/${id}`, { blocks })).status).toBe(403);
      expect((await writer.patch(`/api/reports/${id}`, { title: "t" })).status).toBe(200);
      for (const body of [{ extent: "all" }, { extent: "blocks", frozen: true }, { frozen: 1 }]) {
        expect((await api.post(`/api/reports/${id}/share`, body)).status).toBe(400);
      }
    });

    test("beyond the rate of the link, also with limits switched off", async () => {
      const { api } = await stack().organization();
      const [token, other] = [await share(api, await makeReport(api, [])), await share(api, await makeReport(api, []))];
      const answers = await Promise.all(Array.from({ length: 60 }, () => open(token)));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(10);
      expect(refused[0]).toMatchObject({ json: { code: "rate_limit_exceeded" }, headers: { "retry-after": "1" } });
      expect((await open(other)).status).toBe(200);
    });
  });

  test("are shared and ended in the audit log, and by people who may write only", async () => {
    const team = await createTeam(stack());
    const { browser } = team.owner;
    const id = await makeReport(browser, []);
    await share(browser, id);
    const { browser: viewer } = await team.join("viewer");
    expect((await viewer.call("DELETE", `/api/reports/${id}/share`)).status).toBe(403);
    const stranger = (await stack().organization()).api;
    expect((await stranger.call("DELETE", `/api/reports/${id}/share`)).status).toBe(404);
    const ended = await browser.call("DELETE", `/api/reports/${id}/share`);
    expect(ended.json.report).toMatchObject({ share_token_issued_at: null });
    expect(ended.json.report).not.toHaveProperty("share_extent");
    expect((await browser.call("DELETE", `/api/reports/${id}/share`)).status).toBe(200);
    const { events } = (await browser.get(`/api/orgs/${team.orgId}/audit`)).json;
    const ofReport = (events as { action: string; target: { id: string } }[]).filter(({ target }) => target.id === id);
    expect(ofReport.map(({ action }) => action)).toEqual(["report.share_ended", "report.data_shared"]);
  });
});
