import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Api, Answer } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam } from "../stack/people.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const forks = (runId: string): string => `/api/runs/${runId}/forks`;
const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const fine = (answer: Answer): Answer => {
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer;
};

describeModes("forks", (stack) => {
  const fresh = async (): Promise<Api> => (await stack().organization()).api;
  const runOf = async (api: Api, body: Record<string, unknown> = {}) => (await api.post("/runs", body)).json.run;
  const childrenOf = async (api: Api, runId: string): Promise<number> =>
    (await api.get(`/api/runs/${runId}/lineage`)).json.children_total;

  describe("POST /api/runs/{run_id}/forks, 200", () => {
    test("makes a linked child with an empty summary", async () => {
      const api = await fresh();
      const parent = await runOf(api, {
        project: "vision",
        name: "base",
        config: { lr: 0.1, model: { depth: 2, width: 8 } },
        tags: ["a", "a"],
        metadata: { gpu: "a100", notes: "parent" },
      });
      await api.post(`/runs/${parent.id}/metrics`, { metrics: { loss: 1 }, step: 0 });
      const { json, headers } = fine(
        await api.post(forks(parent.id), {
          step: 120,
          config_overrides: { model: { depth: 4 }, seed: 7 },
          tags: ["b", "a"],
          notes: " second try ",
          metadata: { who: "me" },
        }),
      );
      expect(headers["idempotency-replayed"]).toBeUndefined();
      const { run } = json;
      expect(run).toMatchObject({
        project: "vision",
        project_id: parent.project_id,
        name: "fork-of-base-step-120",
        status: "running",
        config: { lr: 0.1, model: { depth: 4 }, seed: 7 },
        tags: ["a", "b", "forked"],
        notes: "second try",
        parent_run_id: parent.id,
        forked_from_step: 120,
        forked_from_artifact_id: null,
        finished_at: null,
        resume_count: 0,
        lifecycle: [],
        run_control: { stop_state: "none", display_status: "running", stop_requested: false },
        latest_metrics: {},
        metric_aggregates: {},
        metric_keys: [],
        artifact_counts: { checkpoint: 0, rollout: 0, file: 0 },
      });
      expect(run.created_at).toMatch(RFC3339);
      expect(run.metadata).toEqual({
        who: "me",
        notes: "second try",
        lineage: {
          kind: "fork",
          source_run_id: parent.id,
          source_project: "vision",
          source_run_name: "base",
          source_step: 120,
          checkpoint_artifact_id: null,
          checkpoint_name: null,
          checkpoint_step: null,
          inherit_config: true,
          created_at: run.created_at,
        },
      });
      expect(json.fork).toEqual({
        parent_run_id: parent.id,
        forked_from_step: 120,
        forked_from_artifact_id: null,
        message: expect.stringContaining("base"),
      });
      expect((await api.get(`/runs/${run.id}`)).json.run).toMatchObject(run);
      // Its metrics are a sign of life, which is written later.
      const { last_seen_at: _, ...unchanged } = parent;
      expect((await api.get(`/runs/${parent.id}`)).json.run).toMatchObject(unchanged);
    });

    test.each([
      ["no body", undefined],
      ["an empty object", {}],
      [
        "nulls",
        {
          name: null,
          step: null,
          checkpoint_artifact_id: null,
          inherit_config: null,
          config_overrides: null,
          tags: null,
          notes: null,
          metadata: null,
        },
      ],
      ["a blank name", { name: " " }],
    ])("takes %s for everything by default", async (_, body) => {
      const api = await fresh();
      const parent = await runOf(api, { name: "p", config: { a: 1 }, tags: ["t"] });
      const { json } = fine(await api.call("POST", forks(parent.id), body === undefined ? {} : { body }));
      expect(json.run).toMatchObject({ name: "fork-of-p", config: { a: 1 }, tags: ["t", "forked"], notes: null });
      expect(json.fork).toMatchObject({ forked_from_step: null, forked_from_artifact_id: null });
      expect(json.run.metadata.lineage).toMatchObject({ source_step: null, inherit_config: true });
    });

    test("inherits nothing where it must not, takes a fraction of a step and a name", async () => {
      const api = await fresh();
      const parent = await runOf(api, { config: { a: 1 } });
      const body = { inherit_config: false, config_overrides: { b: 2 }, step: 0.5, name: " mine " };
      const { run } = fine(await api.post(forks(parent.id), body)).json;
      expect(run).toMatchObject({ config: { b: 2 }, forked_from_step: 0.5, name: "mine" });
    });

    test("keeps every digit of inherited and of new numbers", async () => {
      const api = await fresh();
      const made = await api.call("POST", "/runs", { rawBody: '{"config":{"seed":12345678901234567890}}' });
      const rawBody = '{"config_overrides":{"other":18446744073709551615},"metadata":{"n":9007199254740993}}';
      const { text } = fine(await api.call("POST", forks(made.json.run.id), { rawBody }));
      expect(text).toContain('"seed":12345678901234567890');
      expect(text).toContain('"other":18446744073709551615');
      expect(text).toContain('"n":9007199254740993');
    });

    test("without a key makes a child each time", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      const ids = [fine(await api.post(forks(id))), fine(await api.post(forks(id)))].map(({ json }) => json.run.id);
      expect(new Set(ids).size).toBe(2);
      // A blank key counts as absent.
      fine(await api.post(forks(id), {}, keyed(" ")));
      expect(await childrenOf(api, id)).toBe(3);
    });

    test("with a key answers a repeat as the first time, and says so", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      const body = { step: 1, config_overrides: { a: 1, b: 2 } };
      const first = fine(await api.post(forks(id), body, keyed("k")));
      await api.patch(`/runs/${first.json.run.id}`, { status: "finished", tags: [] });
      const again = fine(await api.post(forks(id), { config_overrides: { b: 2, a: 1 }, step: 1 }, keyed("k")));
      expect(again.json).toEqual(first.json);
      expect(again.headers["idempotency-replayed"]).toBe("true");
      expect(await childrenOf(api, id)).toBe(1);
    });

    test("with a key 10 times simultaneously makes one child", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(forks(id), {}, keyed("k"))));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      expect(new Set(answers.map(({ json }) => json.run.id)).size).toBe(1);
      expect(await childrenOf(api, id)).toBe(1);
    });

    test("takes a member's session", async () => {
      const team = await createTeam(stack());
      const member = await team.join("member");
      const { run } = (await member.browser.post("/runs", {})).json;
      expect((await member.browser.post(forks(run.id))).json.run.parent_run_id).toBe(run.id);
    });
  });

  describe("POST /api/runs/{run_id}/forks, 400", () => {
    test.each([
      ["a negative step", { step: -1 }, "step"],
      ["a step that is text", { step: "1" }, "step"],
      ["an artifact that is not a UUID", { checkpoint_artifact_id: "latest" }, "checkpoint_artifact_id"],
      ["an inherit_config that is text", { inherit_config: "yes" }, "inherit_config"],
      ["overrides that are a list", { config_overrides: [1] }, "config_overrides"],
      ["tags that are text", { tags: "a" }, "tags"],
      ["an empty tag", { tags: [""] }, "tags"],
      ["blank notes", { notes: "" }, "notes"],
      ["notes of 513 bytes", { notes: "n".repeat(513) }, "notes"],
      ["a name of 513 bytes", { name: "n".repeat(513) }, "name"],
      ["metadata that are text", { metadata: "x" }, "metadata"],
      ["a lineage of the client's", { metadata: { lineage: {} } }, "metadata"],
      ["a parent of the client's", { metadata: { parent_run_id: null } }, "metadata"],
      ["a step of the client's", { metadata: { forked_from_step: 1 } }, "metadata"],
      ["an artifact of the client's", { metadata: { forked_from_artifact_id: "x" } }, "metadata"],
    ])("for %s, but 404 for a run that is not there", async (_, body, field) => {
      const api = await fresh();
      const { id } = await runOf(api);
      expect(await api.post(forks(id), body)).toMatchObject({
        status: 400,
        json: { error: expect.any(String), field },
      });
      expect((await api.post(forks(randomUUID()), body)).status).toBe(404);
      expect(await childrenOf(api, id)).toBe(0);
    });

    test("for an invalid key, malformed JSON, and a body that is not an object", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      expect((await api.post(forks(id), {}, keyed("k".repeat(256)))).status).toBe(400);
      expect((await api.call("POST", forks(id), { rawBody: "{" })).status).toBe(400);
      expect((await api.call("POST", forks(id), { rawBody: "[]" })).status).toBe(400);
      fine(await api.post(forks(id), {}, keyed("k".repeat(255))));
    });

    test("for config and metadata beyond a million bytes together, which is counted after merging", async () => {
      const api = await fresh();
      const parent = await runOf(api, { config: { a: "x".repeat(700_000) } });
      const overrides = { b: "x".repeat(300_000) };
      expect((await api.post(forks(parent.id), { config_overrides: overrides }, keyed("k"))).status).toBe(400);
      fine(await api.post(forks(parent.id), { config_overrides: overrides, inherit_config: false }, keyed("k")));
    });
  });

  test("POST /api/runs/{run_id}/forks, 402: while a payment is due, for what is new", async () => {
    const { api, orgId } = await stack().organization();
    const { id } = await runOf(api);
    const bill = (billing_state: string) =>
      stack().api.patch(`/api/orgs/${orgId}`, { billing_state }, asOperator(stack()));
    const first = fine(await api.post(forks(id), {}, keyed("k")));
    fine(await bill("read_only_payment_required"));
    expect(await api.post(forks(id), {})).toMatchObject({ status: 402, json: { code: "payment_required" } });
    expect(fine(await api.post(forks(id), {}, keyed("k"))).json).toEqual(first.json);
    expect(await childrenOf(api, id)).toBe(1);
  });

  describe("POST /api/runs/{run_id}/forks, 403", () => {
    test.each([
      ["export:read", "sdk:ingest"],
      ["sdk:ingest", "export:read"],
    ])("for a key with %s only", async (scope, missing) => {
      const api = await fresh();
      const { api: half } = await stack().organization({ scopes: [scope] });
      const { id } = await runOf(api);
      expect(await half.post(forks(id))).toMatchObject({
        status: 403,
        json: { error: expect.stringContaining(missing) },
      });
    });

    test("for a viewer, who reads the lineage", async () => {
      const team = await createTeam(stack());
      const viewer = await team.join("viewer");
      const { run } = (await team.owner.browser.post("/runs", {})).json;
      expect((await viewer.browser.post(forks(run.id))).status).toBe(403);
      expect((await viewer.browser.get(`/api/runs/${run.id}/lineage`)).status).toBe(200);
    });
  });

  describe("POST /api/runs/{run_id}/forks, 404", () => {
    test.each(["not-a-uuid", randomUUID(), "side-by-side"])("for the run %s", async (id) => {
      const api = await fresh();
      expect(await api.post(forks(id))).toMatchObject({ status: 404, json: { error: "run not found" } });
    });

    test("for an artifact, of which there are none, once the body is valid", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      const body = { checkpoint_artifact_id: randomUUID() };
      expect(await api.post(forks(id), body)).toMatchObject({ status: 404, json: { error: "artifact not found" } });
      expect((await api.post(forks(id), { ...body, step: -1 })).status).toBe(400);
    });

    test("for what a project-scoped key may not see, stored answers included", async () => {
      const { api, orgId } = await stack().organization();
      const theirs = await runOf(api, { project: "theirs" });
      const mine = await runOf(api, { project: "mine" });
      const wish = { project: "mine", scopes: ["sdk:ingest", "export:read"] };
      const issued = await stack().api.post(`/api/orgs/${orgId}/api-keys`, wish, asOperator(stack()));
      const scoped = api.as(issued.json.api_key);
      fine(await api.post(forks(theirs.id), {}, keyed("k")));
      expect((await scoped.post(forks(theirs.id), {}, keyed("k"))).status).toBe(404);
      expect((await scoped.get(`/api/runs/${theirs.id}/lineage`)).status).toBe(404);
      expect(fine(await scoped.post(forks(mine.id))).json.run.project).toBe("mine");
    });
  });

  describe("POST /api/runs/{run_id}/forks, 409", () => {
    test("for a key that another fork had", async () => {
      const api = await fresh();
      const [one, two] = [await runOf(api), await runOf(api)];
      fine(await api.post(forks(one.id), { step: 1 }, keyed("k")));
      for (const [id, body] of [
        [one.id, { step: 2 }],
        [one.id, {}],
        [two.id, { step: 1 }],
      ] as const) {
        const answer = await api.post(forks(id), body, keyed("k"));
        expect(answer).toMatchObject({ status: 409, json: { code: "idempotency_key_reused" } });
        expect(answer.json.error).toContain("idempotency key");
      }
    });

    test("for a key of another route", async () => {
      const api = await fresh();
      const { id } = await runOf(api);
      fine(await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 }, keyed("k")));
      expect(await api.post(forks(id), {}, keyed("k"))).toMatchObject({ status: 409 });
    });
  });
});
