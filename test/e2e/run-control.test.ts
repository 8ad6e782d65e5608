import { describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { createTeam } from "../stack/people.ts";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { projectKey, runIn, statusesOf, stopOf } from "../stack/run-control.ts";

// One file, because all cases share a stack in each mode.

// The side of the people: POST /api/runs/{run_id}/stop and POST /api/runs/stop.

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const missing = "00000000-0000-0000-0000-000000000000";
const noStop = { stop_state: "none", stop_requested: false, stop_request_id: null, actor: null, updated_at: null };
const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

describeModes("stop requests", (stack) => {
  const fresh = async () => {
    const { orgId, api } = await stack().organization();
    const id = await runIn(api);
    return { orgId, api, id, path: `/api/runs/${id}/stop` };
  };

  describe("POST /api/runs/{run_id}/stop: 200", () => {
    test("a running run is asked once, and shows stopping everywhere", async () => {
      const { api, id, path } = await fresh();
      const { status, json } = await api.post(path, { reason: "  nan loss " });
      expect(status).toBe(200);
      expect(json).toEqual({
        ok: true,
        run_id: id,
        already_requested: false,
        already_terminal: false,
        run_control: {
          stop_state: "requested",
          display_status: "stopping",
          stop_requested: true,
          stop_request_id: expect.stringMatching(UUID),
          actor: "api_key",
          stop_requested_at: expect.stringMatching(RFC3339),
          stop_acknowledged_at: null,
          stop_completed_at: null,
          updated_at: json.run_control.stop_requested_at,
          reason: "nan loss",
          completion_message: null,
        },
      });
      const read = (await api.get(`/runs/${id}`)).json.run;
      expect(read).toMatchObject({ status: "running", finished_at: null, run_control: json.run_control });
      const [listed] = (await api.get("/runs?display_status=stopping&status=running")).json.runs;
      const { reason: _reason, completion_message: _message, ...inLists } = json.run_control;
      expect(listed).toMatchObject({ id, status: "running" });
      expect(listed.run_control).toEqual(inLists);
      expect((await api.get("/runs?display_status=running")).json.runs).toEqual([]);
    });

    test("a repeated stop keeps the first request and reason, also after it was acknowledged", async () => {
      const { api, id, path } = await fresh();
      const first = (await api.post(path, { reason: "one" })).json;
      const again = (await api.post(path, { reason: "two" })).json;
      expect(again).toEqual({ ...first, already_requested: true });
      const { stop_request_id } = first.run_control;
      const acked = await api.post(`/api/runs/${id}/stop-ack`, { stop_request_id, state: "acknowledged" });
      expect((await api.post(path, {})).json).toEqual({
        ...first,
        already_requested: true,
        run_control: acked.json.run_control,
      });
    });

    test.each(["finished", "failed"])("of a %s run stores nothing", async (status) => {
      const { api, id, path } = await fresh();
      await api.patch(`/runs/${id}`, { status });
      const answer = await api.post(path, { reason: "late" });
      expect(answer).toMatchObject({
        status: 200,
        json: {
          ok: true,
          already_requested: false,
          already_terminal: true,
          run_control: { ...noStop, display_status: status, reason: null },
        },
      });
      expect((await api.get(`/runs/${id}`)).json.run.run_control).toMatchObject({ ...noStop, display_status: status });
    });

    test("of a stopped run leaves its record; once it runs again it can be asked again, with another id", async () => {
      const { api, id, path } = await fresh();
      const first = await stopOf(api, id, "one");
      await api.post(`/api/runs/${id}/stop-ack`, { stop_request_id: first, state: "completed", message: "bye" });
      expect((await api.post(path, {})).json).toMatchObject({
        already_terminal: true,
        run_control: { stop_state: "completed", display_status: "stopped", stop_request_id: first, reason: "one" },
      });
      await api.patch(`/runs/${id}`, { status: "running" });
      const second = (await api.post(path, {})).json;
      expect(second).toMatchObject({
        already_requested: false,
        run_control: { stop_state: "requested", reason: null, completion_message: null, stop_completed_at: null },
      });
      expect(second.run_control.stop_request_id).not.toBe(first);
    });

    test.each<[string, Parameters<Api["call"]>[2]]>([
      ["no body", {}],
      ["no body but a content type", { headers: { "content-type": "application/json" } }],
      ["an empty object", { body: {} }],
      ["a null reason", { body: { reason: null } }],
      ["a blank reason", { body: { reason: " \n" } }],
      ["unknown fields", { body: { cause: 7 } }],
    ])("with %s there is no reason", async (_what, options) => {
      const { api, path } = await fresh();
      const answer = await api.call("POST", path, options);
      expect(answer).toMatchObject({ status: 200, json: { run_control: { stop_state: "requested", reason: null } } });
    });

    test("a reason of 512 bytes is kept, an id in capitals is the same run", async () => {
      const { api, id } = await fresh();
      const reason = "é".repeat(256);
      const answer = await api.post(`/api/runs/${id.toUpperCase()}/stop`, { reason });
      expect(answer.json).toMatchObject({ run_id: id, run_control: { reason } });
    });

    test("20 simultaneous stops make one request", async () => {
      const { api, path } = await fresh();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => api.post(path, { reason: `r${i}` })));
      expect(statusesOf(answers)).toEqual([200]);
      expect(answers.filter(({ json }) => !json.already_requested)).toHaveLength(1);
      expect(new Set(answers.map(({ json }) => JSON.stringify(json.run_control))).size).toBe(1);
    });

    test.each(["owner", "admin", "member"] as const)("an %s asks as a user", async (role) => {
      const team = await createTeam(stack());
      const person = role === "owner" ? team.owner : await team.join(role);
      const { id } = (await person.browser.post("/runs", {})).json.run;
      const answer = await person.browser.post(`/api/runs/${id}/stop`, { reason: "enough" });
      expect(answer).toMatchObject({ status: 200, json: { run_control: { actor: "user", reason: "enough" } } });
    });
  });

  describe("POST /api/runs/{run_id}/stop: refusals", () => {
    test.each<[string, unknown]>([
      ["a reason of 513 bytes", { reason: "x".repeat(513) }],
      ["a reason that is a number", { reason: 5 }],
      ["a reason with NUL", { reason: "a\u0000" }],
      ["a body that is a list", []],
    ])("400 for %s, and nothing is stored", async (_what, body) => {
      const { api, id, path } = await fresh();
      expect(await api.post(path, body)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
      expect((await api.get(`/runs/${id}`)).json.run.run_control).toMatchObject(noStop);
    });

    test("400 for a malformed body, another content type and a malformed key", async () => {
      const { api, path } = await fresh();
      expect((await api.call("POST", path, { rawBody: "{" })).status).toBe(400);
      const plain = { rawBody: "{}", headers: { "content-type": "text/plain" } };
      expect((await api.call("POST", path, plain)).status).toBe(400);
      expect((await api.post(path, {}, keyed("a b"))).status).toBe(400);
      expect((await api.post(path, {}, keyed("x".repeat(256)))).status).toBe(400);
    });

    test("403 for keys without runs:control, viewers, and pages from elsewhere", async () => {
      const { api } = await stack().organization({ scopes: ["sdk:ingest", "export:read"] });
      const refused = await api.post(`/api/runs/${await runIn(api)}/stop`);
      expect(refused).toMatchObject({ status: 403, json: { error: expect.stringContaining("runs:control") } });
      expect((await api.post("/api/runs/stop", { run_ids: [missing] })).status).toBe(403);

      const team = await createTeam(stack());
      const { id } = (await team.owner.browser.post("/runs", {})).json.run;
      const viewer = await team.join("viewer");
      expect((await viewer.browser.post(`/api/runs/${id}/stop`)).status).toBe(403);
      expect((await viewer.browser.post("/api/runs/stop", { run_ids: [id] })).status).toBe(403);
      const foreign = { headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } };
      expect((await team.owner.browser.post(`/api/runs/${id}/stop`, {}, foreign)).status).toBe(403);
    });

    test("404 for what is not there or not the caller's, before the body is looked at", async () => {
      const { orgId, api, path } = await fresh();
      const stranger = await stack().organization();
      const bound = await projectKey(stack(), orgId, "mine", ["runs:control"]);
      const unseen = await stranger.api.post(path, { reason: 5 });
      for (const answer of [
        await api.post(`/api/runs/${randomUUID()}/stop`, { reason: 5 }),
        await api.post(`/api/runs/${missing}/stop`),
        await api.post("/api/runs/nonsense/stop"),
        await bound.post(path),
      ]) {
        expect([answer.status, answer.text]).toEqual([404, unseen.text]);
      }
      expect((await bound.post(`/api/runs/${await runIn(api, "mine")}/stop`)).status).toBe(200);
    });
  });

  describe("Idempotency-Key", () => {
    test("a repeat gets the stored answer, even after later changes", async () => {
      const { api, id, path } = await fresh();
      const first = await api.post(path, { reason: "x" }, keyed("k1"));
      await api.patch(`/runs/${id}`, { status: "finished" });
      const again = await api.post(path, { reason: " x" }, keyed("k1"));
      expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
      expect(again.text).toBe(first.text);
      expect(first.headers["idempotency-replayed"]).toBeUndefined();
      expect((await api.post(path, {}, keyed(" "))).json.already_terminal).toBe(true);
    });

    test("another body, run or route under the key is 400 with the code, as 409 is not listed", async () => {
      const { api, id, path } = await fresh();
      await api.post(path, { reason: "x" }, keyed("k1"));
      const reused = {
        status: 400,
        json: { code: "idempotency_key_reused", error: expect.stringMatching(/idempotency key/) },
      };
      expect(await api.post(path, { reason: "y" }, keyed("k1"))).toMatchObject(reused);
      expect(await api.post(`/api/runs/${await runIn(api)}/stop`, { reason: "x" }, keyed("k1"))).toMatchObject(reused);
      expect(await api.post("/api/runs/stop", { run_ids: [id], reason: "x" }, keyed("k1"))).toMatchObject(reused);
      const logs = { lines: [{ line_number: 1, message: "x" }] };
      expect(await api.post(`/api/runs/${id}/logs`, logs, keyed("k1"))).toMatchObject(reused);
    });

    test("a refused request leaves no record", async () => {
      const { api, path } = await fresh();
      expect((await api.post(path, { reason: 5 }, keyed("k2"))).status).toBe(400);
      const answer = await api.post(path, { reason: "fine" }, keyed("k2"));
      expect(answer).toMatchObject({ status: 200, json: { already_requested: false } });
      expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    });

    test("the stored answer is for those who may see the run", async () => {
      const { orgId, api, path } = await fresh();
      await api.post(path, {}, keyed("k3"));
      const bound = await projectKey(stack(), orgId, "mine", ["runs:control"]);
      expect((await bound.post(path, {}, keyed("k3"))).status).toBe(404);
    });

    test("ten simultaneous stops with one key: one is new", async () => {
      const { api, path } = await fresh();
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(path, {}, keyed("k4"))));
      expect(statusesOf(answers)).toEqual([200]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers["idempotency-replayed"] !== "true")).toHaveLength(1);
    });
  });

  describe("POST /api/runs/stop", () => {
    const bulk = (api: Api, run_ids: unknown, rest: object = {}): Promise<Answer> =>
      api.post("/api/runs/stop", { run_ids, ...rest });

    test("answers each run once, in the order of the request, with what became of it", async () => {
      const { orgId, api, id: running } = await fresh();
      const asked = await runIn(api);
      const asking = await stopOf(api, asked, "first");
      const ended = await runIn(api);
      await api.patch(`/runs/${ended}`, { status: "failed" });
      const { api: stranger } = await stack().organization();
      const foreign = await runIn(stranger);
      const gone = randomUUID();
      const ids = [ended, running.toUpperCase(), missing, asked, running, foreign, gone, ended];
      const answer = await bulk(api, ids, { reason: "quota" });
      expect(answer).toMatchObject({
        status: 200,
        json: {
          limit: 100,
          results: [
            { ok: true, run_id: ended, already_requested: false, already_terminal: true, run_control: noStop },
            {
              ok: true,
              run_id: running,
              already_requested: false,
              already_terminal: false,
              run_control: { stop_state: "requested", reason: "quota", actor: "api_key" },
            },
            { ok: false, run_id: missing, error: "not_found_or_unauthorized" },
            {
              ok: true,
              run_id: asked,
              already_requested: true,
              run_control: { stop_request_id: asking, reason: "first" },
            },
            { ok: false, run_id: foreign, error: "not_found_or_unauthorized" },
            { ok: false, run_id: gone, error: "not_found_or_unauthorized" },
          ],
        },
      });
      expect(answer.json.results[2]).toEqual({ ok: false, run_id: missing, error: "not_found_or_unauthorized" });
      expect((await stranger.get(`/runs/${foreign}`)).json.run.run_control).toMatchObject(noStop);
      const bound = await projectKey(stack(), orgId, "mine", ["runs:control"]);
      const mine = await runIn(api, "mine");
      expect((await bulk(bound, [running, mine])).json.results).toMatchObject([
        { ok: false },
        { ok: true, run_id: mine },
      ]);
    });

    test("100 runs are asked in one request, each with its own id", async () => {
      const { api } = await fresh();
      const ids = await Promise.all(Array.from({ length: 100 }, () => runIn(api)));
      const { results } = (await bulk(api, ids)).json;
      expect(results.map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids);
      const requests = results.map(
        (one: { run_control: { stop_request_id: string } }) => one.run_control.stop_request_id,
      );
      expect(new Set(requests).size).toBe(100);
      const signals = await Promise.all(ids.map((id) => api.get(`/api/runs/${id}/stop-signal`)));
      expect(signals.map(({ json }) => json.stop_request?.stop_request_id)).toEqual(requests);
    });

    test("crossing requests do not get into each other's way", async () => {
      const { api } = await fresh();
      const ids = await Promise.all(Array.from({ length: 20 }, () => runIn(api)));
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) => bulk(api, i % 2 === 0 ? ids : ids.toReversed())),
      );
      expect(statusesOf(answers)).toEqual([200]);
      const fresh1 = answers.flatMap(({ json }) => json.results).filter((one) => !one.already_requested);
      expect(fresh1).toHaveLength(20);
    });

    test.each<[string, unknown]>([
      ["no ids", {}],
      ["null for ids", { run_ids: null }],
      ["an empty list", { run_ids: [] }],
      ["101 ids, although all are one", { run_ids: Array.from({ length: 101 }, () => missing) }],
      ["a text for ids", { run_ids: missing }],
      ["an id that is not a UUID", { run_ids: [missing, "nonsense"] }],
      ["an id that is a number", { run_ids: [7] }],
      ["an id in braces", { run_ids: [`{${missing}}`] }],
      ["a reason of 513 bytes", { run_ids: [missing], reason: "x".repeat(513) }],
      ["a reason that is a list", { run_ids: [missing], reason: [] }],
    ])("400 for %s", async (_what, body) => {
      const { api, id } = await fresh();
      expect(await api.post("/api/runs/stop", body)).toMatchObject({
        status: 400,
        json: { error: expect.any(String) },
      });
      expect((await api.get(`/runs/${id}`)).json.run.run_control).toMatchObject(noStop);
    });

    test("400 without a body, 401 without credentials", async () => {
      const { api } = await fresh();
      expect((await api.call("POST", "/api/runs/stop")).status).toBe(400);
      expect((await bulk(stack().api, [missing])).status).toBe(401);
    });

    test("a repeat under a key gets the stored answer, but only of runs that this caller may see", async () => {
      const { orgId, api, id } = await fresh();
      const mine = await runIn(api, "mine");
      const body = { run_ids: [id, mine, missing], reason: "r" };
      const first = await api.post("/api/runs/stop", body, keyed("b1"));
      const again = await api.post("/api/runs/stop", body, keyed("b1"));
      expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" }, text: first.text });
      const bound = await projectKey(stack(), orgId, "mine", ["runs:control"]);
      const seen = await bound.post("/api/runs/stop", body, keyed("b1"));
      expect(seen).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
      expect(seen.json.results).toEqual([
        { ok: false, run_id: id, error: "not_found_or_unauthorized" },
        first.json.results[1],
        first.json.results[2],
      ]);
      const other = await api.post("/api/runs/stop", { ...body, run_ids: [mine, id, missing] }, keyed("b1"));
      expect(other).toMatchObject({ status: 400, json: { code: "idempotency_key_reused" } });
    });
  });
});
