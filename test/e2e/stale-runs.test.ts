import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeOwnModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import type { OwnStack } from "../stack/stack.ts";

// One file, because all cases share a stack in each mode.

type Row = { id: string; name: string; stale: boolean; last_seen_at: string; status: string };

const makeRun = async (api: Pick<Api, "post">, name: string): Promise<string> =>
  (await api.post("/runs", { name })).json.run.id as string;

/** Lets runs be a day older, so that nothing of them is recent. */
const age = (stack: OwnStack, ids: readonly string[]) =>
  queryDatabase(
    stack,
    `UPDATE runs.runs SET created_at = created_at - interval '1 day', started_at = started_at - interval '1 day' WHERE id = ANY ($1)`,
    [ids],
  );

const names = async (api: Pick<Api, "get">, stale: boolean): Promise<string[]> => {
  const { status, json } = await api.get(`/api/runs/summary?stale=${stale}`);
  expect(status).toBe(200);
  const runs = json.runs as Row[];
  expect(runs.every((run) => run.stale === stale)).toBe(true);
  expect(json.total).toBe(runs.length);
  expect(((await api.get(`/runs?stale=${stale}`)).json.runs as Row[]).map(({ id }) => id)).toEqual(
    runs.map(({ id }) => id),
  );
  return runs.map(({ name }) => name).toSorted();
};

/** Ends the gateway as an operator would, so that it reports what it has collected, and starts it again. */
async function drainGateway(stack: OwnStack): Promise<void> {
  await stack.children.get("gateway")?.end();
  await stack.restart("gateway");
}

describeOwnModes("stale runs", (stack) => {
  test("rows say when a run was last seen and whether it is stale", async () => {
    const { api } = await stack().organization();
    const made = (await api.post("/runs", {})).json.run as Row & { created_at: string };
    expect(made).toMatchObject({ last_seen_at: made.created_at, stale: false });
    const read = async () => {
      const one = (await api.get(`/runs/${made.id}`)).json.run;
      const listed = (await api.get("/runs")).json.runs[0];
      const summary = (await api.get("/api/runs/summary")).json.runs[0];
      const compared = (await api.get(`/api/runs/side-by-side?run_ids=${made.id}`)).json.runs[0];
      return [one, listed, summary, compared].map(({ stale }: Row) => stale);
    };
    expect(await read()).toEqual([false, false, false, false]);
    await age(stack(), [made.id]);
    expect(await read()).toEqual([true, true, true, true]);
  });

  test("stale takes true, false, all and nothing: anything else is 400", async () => {
    const { api } = await stack().organization();
    await makeRun(api, "one");
    for (const path of ["/runs", "/api/runs/summary"]) {
      for (const value of ["all", "", "false"]) {
        expect((await api.get(`${path}?stale=${value}`)).json.runs).toHaveLength(1);
      }
      for (const value of ["yes", "1", "TRUE"]) {
        expect(await api.get(`${path}?stale=${value}`)).toMatchObject({
          status: 400,
          json: { error: "stale must be true, false or all" },
        });
      }
    }
  });

  test("writes and polls that succeed are signs of life; others are none", async () => {
    const { api } = await stack().organization();
    const [other, none] = [(await stack().organization()).api, randomUUID()];
    const ids: Record<string, string> = {};
    for (const name of ["metrics", "logs", "polls", "attached", "silent", "refused"])
      ids[name] = await makeRun(api, name);
    await age(stack(), Object.values(ids));
    expect(await names(api, true)).toHaveLength(6);
    const statuses = [
      await api.post(`/runs/${ids["metrics"]}/metrics`, { metrics: { loss: 1 }, step: 1 }),
      await api.post(`/api/runs/${ids["logs"]!.toUpperCase()}/logs`, { lines: [{ line_number: 1, message: "x" }] }),
      await api.get(`/api/runs/${ids["polls"]}/stop-signal`),
      await api.post("/runs", { id: ids["attached"], mode: "resume" }),
      await api.post(`/runs/${ids["refused"]}/metrics`, { metrics: "no" }),
      await other.post(`/runs/${ids["refused"]}/metrics`, { metrics: { loss: 1 }, step: 1 }),
      await api.post(`/runs/${none}/metrics`, { metrics: { loss: 1 }, step: 1 }),
      await api.get(`/runs/${ids["silent"]}`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 400, 404, 404, 200]);
    await drainGateway(stack());
    expect(await names(api, true)).toEqual(["refused", "silent"]);
    expect(await names(api, false)).toEqual(["attached", "logs", "metrics", "polls"]);
    const [seen] = (await api.get("/runs?stale=false&limit=1")).json.runs as [Row];
    expect(Math.abs(Date.now() - Date.parse(seen.last_seen_at))).toBeLessThan(60_000);
  });

  test("a gateway that is killed loses signs, and the next sign counts", async () => {
    const { api } = await stack().organization();
    const id = await makeRun(api, "one");
    await age(stack(), [id]);
    expect((await api.get(`/api/runs/${id}/stop-signal`)).status).toBe(200);
    await stack().restart("gateway");
    expect(await names(api, true)).toEqual(["one"]);
    expect((await api.get(`/api/runs/${id}/stop-signal`)).status).toBe(200);
    await drainGateway(stack());
    expect(await names(api, true)).toEqual([]);
  });

  test("signs of several gateways count for one run", async () => {
    if (stack().mode === "embedded") return;
    const { api, key } = await stack().organization();
    const id = await makeRun(api, "one");
    await age(stack(), [id]);
    const replica = await stack().addReplica();
    expect((await replica.api.as(key).get(`/api/runs/${id}/stop-signal`)).status).toBe(200);
    expect(await names(api, true)).toEqual(["one"]);
    await replica.child.end();
    expect(await names(api, true)).toEqual([]);
  });

  test("a member ends a stale run, a viewer does not; the run may write afterwards, and resumes", async () => {
    const team = await createTeam(stack());
    const [member, viewer] = [await team.join("member"), await team.join("viewer")];
    const id = await makeRun(member.browser, "dead");
    expect((await member.browser.post(`/api/runs/${id}/stop`, { reason: "no answer" })).status).toBe(200);
    await age(stack(), [id]);
    expect(await names(member.browser, true)).toEqual(["dead"]);
    expect((await viewer.browser.patch(`/runs/${id}`, { status: "failed" })).status).toBe(403);
    const ended = await member.browser.patch(`/runs/${id}`, { status: "failed" });
    expect(ended).toMatchObject({ status: 200, json: { run: { status: "failed", stale: false } } });
    expect(await names(member.browser, true)).toEqual([]);
    const { run } = (await member.browser.get(`/runs/${id}`)).json;
    expect(run.finished_at).not.toBeNull();
    expect(run.run_control).toMatchObject({ stop_state: "terminal_without_completion", display_status: "failed" });
    // It was not dead: data that it still sends is kept, and it learns that it has ended.
    expect((await member.browser.post(`/runs/${id}/metrics`, { metrics: { loss: 1 }, step: 1 })).status).toBe(200);
    expect((await member.browser.post("/runs", { id, mode: "resume" })).json.run).toMatchObject({
      status: "running",
      finished_at: null,
      stale: false,
    });
  });
});
