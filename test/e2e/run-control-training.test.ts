import { describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { createTeam } from "../stack/people.ts";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { projectKey, runIn, signalOf, statusesOf, stopOf } from "../stack/run-control.ts";

// One file, because all cases share a stack in each mode.

// The side of the training processes: GET /api/runs/{run_id}/stop-signal and POST /api/runs/{run_id}/stop-ack.

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const quiet = { stop_requested: false, stop_request: null };

describeModes("training processes and stop requests", (stack) => {
  const fresh = async (plan = "premium") => {
    const { orgId, api } = await stack().organization({ plan });
    return { orgId, api, id: await runIn(api) };
  };
  const ack = (api: Api, id: string, body: unknown): Promise<Answer> => api.post(`/api/runs/${id}/stop-ack`, body);
  const controlOf = async (api: Api, id: string) => (await api.get(`/runs/${id}`)).json.run.run_control;

  describe("GET /api/runs/{run_id}/stop-signal: 200", () => {
    test("a run that was created a moment ago need not stop", async () => {
      const { api, id } = await fresh();
      const { status, json, headers } = await signalOf(api, id);
      expect(status).toBe(200);
      expect(json).toEqual({
        run_id: id,
        run_status: "running",
        terminal: false,
        stop_requested: false,
        poll_after_seconds: 10,
        stop_request: null,
      });
      expect(headers).toMatchObject({ "cache-control": "private, no-store", pragma: "no-cache" });
    });

    test("returns the request once it was answered, then its acknowledgement, and nothing after the end", async () => {
      const { api, id } = await fresh();
      await signalOf(api, id);
      const asked = (await api.post(`/api/runs/${id}/stop`, { reason: "secret" })).json.run_control;
      const request = {
        stop_request_id: asked.stop_request_id,
        requested_at: asked.stop_requested_at,
        acknowledged_at: null,
      };
      const told = await signalOf(api, id);
      expect(told.json).toMatchObject({ run_status: "running", terminal: false, stop_requested: true });
      expect(told.json.stop_request).toEqual(request);
      expect(told.text).not.toContain("secret");
      const { stop_request_id } = asked;
      const acked = (await ack(api, id, { stop_request_id, state: "acknowledged" })).json.run_control;
      expect((await signalOf(api, id)).json).toMatchObject({
        stop_requested: true,
        stop_request: { ...request, acknowledged_at: acked.stop_acknowledged_at },
      });
      await ack(api, id, { stop_request_id, state: "completed" });
      expect((await signalOf(api, id)).json).toMatchObject({ run_status: "failed", terminal: true, ...quiet });
    });

    test.each(["finished", "failed"])(
      "a run with a pending stop that ends as %s is terminal immediately",
      async (status) => {
        const { api, id } = await fresh();
        await stopOf(api, id);
        await api.patch(`/runs/${id}`, { status });
        expect((await signalOf(api, id)).json).toMatchObject({ run_status: status, terminal: true, ...quiet });
      },
    );

    test("a resumed run is running immediately, without the old request, and can be asked again", async () => {
      const { api, id } = await fresh();
      const old = await stopOf(api, id);
      await ack(api, id, { stop_request_id: old, state: "completed" });
      expect((await signalOf(api, id)).json.terminal).toBe(true);
      await api.post("/runs", { id, mode: "resume" });
      expect((await signalOf(api, id)).json).toMatchObject({ run_status: "running", terminal: false, ...quiet });
      const next = await stopOf(api, id);
      expect((await signalOf(api, id)).json.stop_request.stop_request_id).toBe(next);
      expect(next).not.toBe(old);
    });

    test("a run set back to running by PATCH is told so, and of a completed stop nothing", async () => {
      const { api, id } = await fresh();
      await ack(api, id, { stop_request_id: await stopOf(api, id), state: "completed" });
      await api.patch(`/runs/${id}`, { status: "running" });
      expect((await signalOf(api, id)).json).toMatchObject({ run_status: "running", terminal: false, ...quiet });
      expect(await controlOf(api, id)).toMatchObject({ stop_state: "completed", display_status: "running" });
    });

    test("every one of many runs is told immediately, while all of them poll", async () => {
      const { api } = await fresh();
      const ids = await Promise.all(Array.from({ length: 30 }, () => runIn(api)));
      let polling = true;
      const poller = async (): Promise<void> => {
        for (let i = 0; polling; i += 1) expect((await signalOf(api, ids[i % 30]!)).status).toBe(200);
      };
      const pollers = [poller(), poller(), poller()];
      for (const id of ids) {
        const request = await stopOf(api, id);
        expect((await signalOf(api, id)).json.stop_request?.stop_request_id).toBe(request);
      }
      polling = false;
      await Promise.all(pollers);
    });

    test("in capitals the id is the same, and a key of the run's project may ask", async () => {
      const { orgId, api } = await fresh();
      const bound = await projectKey(stack(), orgId, "mine", ["sdk:ingest"]);
      const id = await runIn(api, "mine");
      expect((await signalOf(bound, id.toUpperCase())).json).toMatchObject({ run_id: id, run_status: "running" });
    });
  });

  describe("POST /api/runs/{run_id}/stop-ack: 200", () => {
    test("acknowledged leaves the run stopping, and its message aside", async () => {
      const { api, id } = await fresh();
      const stop_request_id = await stopOf(api, id, "why");
      const { status, json } = await ack(api, id, { stop_request_id, state: "acknowledged", message: "soon" });
      expect(status).toBe(200);
      expect(json).toEqual({
        run_id: id,
        run_control: {
          stop_state: "acknowledged",
          display_status: "stopping",
          stop_requested: true,
          stop_request_id,
          actor: "api_key",
          stop_requested_at: expect.stringMatching(RFC3339),
          stop_acknowledged_at: expect.stringMatching(RFC3339),
          stop_completed_at: null,
          updated_at: json.run_control.stop_acknowledged_at,
          reason: "why",
          completion_message: null,
        },
      });
      expect(await controlOf(api, id)).toEqual(json.run_control);
    });

    test.each(["requested", "acknowledged"])(
      "completed after %s ends the run, which then shows stopped",
      async (from) => {
        const { api, id } = await fresh();
        const stop_request_id = await stopOf(api, id);
        if (from === "acknowledged") await ack(api, id, { stop_request_id, state: from });
        const { json } = await ack(api, id, { stop_request_id, state: "completed", message: " saved " });
        expect(json.run_control).toMatchObject({
          stop_state: "completed",
          display_status: "stopped",
          stop_requested: true,
          stop_acknowledged_at: expect.stringMatching(RFC3339),
          stop_completed_at: expect.stringMatching(RFC3339),
          completion_message: "saved",
        });
        const { run } = (await api.get(`/runs/${id}`)).json;
        expect(run).toMatchObject({ status: "failed", run_control: json.run_control });
        expect(run.finished_at).toBe(json.run_control.stop_completed_at);
        expect((await api.get("/runs?display_status=stopped")).json.runs).toMatchObject([{ id }]);
      },
    );

    test("repeats change nothing: the first times and message stay", async () => {
      const { api, id } = await fresh();
      const stop_request_id = await stopOf(api, id);
      const first = await ack(api, id, { stop_request_id, state: "acknowledged" });
      expect((await ack(api, id, { stop_request_id, state: "acknowledged" })).json).toEqual(first.json);
      const done = await ack(api, id, { stop_request_id, state: "completed", message: "one" });
      expect((await ack(api, id, { stop_request_id, state: "completed", message: "two" })).json).toEqual(done.json);
      expect((await ack(api, id, { stop_request_id, state: "acknowledged" })).json).toEqual(done.json);
    });

    test.each(["finished", "failed"])("a PATCH to %s after it keeps the run stopped, and its end", async (status) => {
      const { api, id } = await fresh();
      await ack(api, id, { stop_request_id: await stopOf(api, id), state: "completed" });
      const before = (await api.get(`/runs/${id}`)).json.run;
      expect((await api.patch(`/runs/${id}`, { status })).status).toBe(200);
      expect((await api.get(`/runs/${id}`)).json.run).toMatchObject({
        status,
        finished_at: before.finished_at,
        run_control: before.run_control,
      });
    });

    test("a run that ended without completing its stop can complete it later, and keeps its status", async () => {
      const { api, id } = await fresh();
      const stop_request_id = await stopOf(api, id);
      await api.patch(`/runs/${id}`, { status: "finished" });
      expect(await controlOf(api, id)).toMatchObject({
        stop_state: "terminal_without_completion",
        display_status: "finished",
        stop_requested: false,
      });
      const { json } = await ack(api, id, { stop_request_id, state: "completed" });
      expect(json.run_control).toMatchObject({ stop_state: "completed", display_status: "stopped" });
      expect((await api.get(`/runs/${id}`)).json.run.status).toBe("finished");
    });

    test("an id in capitals, a blank message and unknown fields do no harm", async () => {
      const { api, id } = await fresh();
      const stop_request_id = (await stopOf(api, id)).toUpperCase();
      const answer = await ack(api, id, { stop_request_id, state: "completed", message: "  ", step: 3 });
      expect(answer).toMatchObject({ status: 200, json: { run_control: { completion_message: null } } });
    });

    test("a message of 512 bytes is kept", async () => {
      const { api, id } = await fresh();
      const message = "é".repeat(256);
      const answer = await ack(api, id, { stop_request_id: await stopOf(api, id), state: "completed", message });
      expect(answer.json.run_control.completion_message).toBe(message);
    });

    test("ten simultaneous completions end the run once", async () => {
      const { api, id } = await fresh();
      const stop_request_id = await stopOf(api, id);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => ack(api, id, { stop_request_id, state: "completed", message: `m${i}` })),
      );
      expect(statusesOf(answers)).toEqual([200]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    });
  });

  describe("refusals", () => {
    const id = (request: string) => ({ stop_request_id: request, state: "acknowledged" });

    test.each<[string, (request: string) => unknown]>([
      ["no id", () => ({ state: "acknowledged" })],
      ["a null id", () => ({ stop_request_id: null, state: "acknowledged" })],
      ["an id that is a number", () => ({ stop_request_id: 5, state: "acknowledged" })],
      ["no state", (request) => ({ stop_request_id: request })],
      ["an unknown state", (request) => ({ stop_request_id: request, state: "requested" })],
      ["an unknown state with an id that does not match", () => ({ stop_request_id: randomUUID(), state: "done" })],
      ["a state in capitals", (request) => ({ stop_request_id: request, state: "Completed" })],
      ["a message of 513 bytes", (request) => ({ ...id(request), message: "x".repeat(513) })],
      ["a message that is a number", (request) => ({ ...id(request), message: 1 })],
      ["a message with NUL", (request) => ({ ...id(request), message: "\u0000" })],
      ["a list", () => []],
    ])("400 for %s", async (_what, body) => {
      const { api, id: run } = await fresh();
      const request = await stopOf(api, run);
      expect(await ack(api, run, body(request))).toMatchObject({ status: 400, json: { error: expect.any(String) } });
      expect(await controlOf(api, run)).toMatchObject({ stop_state: "requested" });
      expect((await ack(api, randomUUID(), body(request))).status).toBe(Array.isArray(body(request)) ? 400 : 404);
    });

    test("400 without a body", async () => {
      const { api, id: run } = await fresh();
      expect((await api.call("POST", `/api/runs/${run}/stop-ack`)).status).toBe(400);
    });

    test.each([randomUUID(), "nonsense", "", " ", "00000000-0000-0000-0000-000000000000", "\u0000", "x".repeat(2000)])(
      "409 for the id %j, of a run that was asked and of one that was not",
      async (other) => {
        const { api, id: run } = await fresh();
        expect(await ack(api, run, id(other))).toMatchObject({ status: 409, json: { error: expect.any(String) } });
        await stopOf(api, run);
        const before = await controlOf(api, run);
        for (const state of ["acknowledged", "completed"]) {
          expect((await ack(api, run, { stop_request_id: other, state })).status).toBe(409);
        }
        expect(await controlOf(api, run)).toEqual(before);
      },
    );

    test("409 for the request of before a resume, and for another run's", async () => {
      const { api, id: run } = await fresh();
      const old = await stopOf(api, run);
      const other = await runIn(api);
      await stopOf(api, other);
      expect((await ack(api, other, id(old))).status).toBe(409);
      await ack(api, run, { stop_request_id: old, state: "completed" });
      await api.post("/runs", { id: run, mode: "resume" });
      expect((await ack(api, run, { stop_request_id: old, state: "completed" })).status).toBe(409);
      expect((await api.get(`/runs/${run}`)).json.run.status).toBe("running");
    });

    test("403 for sessions of every role, and for keys without sdk:ingest", async () => {
      const team = await createTeam(stack());
      const { id: run } = (await team.owner.browser.post("/runs", {})).json.run;
      for (const { browser } of [team.owner, await team.join("member"), await team.join("viewer")]) {
        expect((await browser.get(`/api/runs/${run}/stop-signal`)).status).toBe(403);
        expect((await browser.post(`/api/runs/${run}/stop-ack`, id(randomUUID()))).status).toBe(403);
      }
      const { api } = await stack().organization({ scopes: ["runs:control", "export:read"] });
      const refused = { status: 403, json: { error: expect.stringContaining("sdk:ingest") } };
      expect(await signalOf(api, run)).toMatchObject(refused);
      expect(await ack(api, run, id(randomUUID()))).toMatchObject(refused);
    });

    test("404 for what is not there or not the caller's, whether it is in memory or not", async () => {
      const { orgId, api, id: run } = await fresh();
      const request = await stopOf(api, run);
      const stranger = await stack().organization();
      const bound = await projectKey(stack(), orgId, "mine", ["sdk:ingest"]);
      const absent = await signalOf(api, randomUUID());
      expect(absent.status).toBe(404);
      for (const answer of [
        await signalOf(stranger.api, run),
        await signalOf(bound, run),
        await signalOf(api, "nonsense"),
        await signalOf(api, "00000000-0000-0000-0000-000000000000"),
        await ack(stranger.api, run, id(request)),
        await ack(bound, run, id(request)),
        await ack(api, randomUUID(), id(request)),
        await ack(api, "nonsense", id(request)),
      ]) {
        expect([answer.status, answer.text]).toEqual([404, absent.text]);
      }
      expect(await controlOf(api, run)).toMatchObject({ stop_state: "requested" });
    });
  });
});
