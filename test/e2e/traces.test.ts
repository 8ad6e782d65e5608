import { expect, test } from "@jest/globals";
import { randomBytes, randomUUID } from "node:crypto";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator } from "../stack/people.ts";

type Event = Record<string, unknown>;

const traceIdOf = (): string => randomBytes(16).toString("hex");
const span = (number: number): string => number.toString(16).padStart(16, "0");

const eventOf = (trace_id: string, fields: Event = {}): Event => ({
  trace_id,
  span_id: span(1),
  event_id: randomUUID(),
  sequence: 1,
  event_kind: "finished",
  name: "roll",
  kind: "rollout",
  status: "ok",
  started_at: new Date().toISOString(),
  ...fields,
});

describeModes("traces", (stack) => {
  const freshRun = async (): Promise<{ api: Api; id: string; path: string; send: Send }> => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", { name: "r1", project: "demo" })).json.run;
    const path = `/api/runs/${id}/traces`;
    const send: Send = (events, headers = { "idempotency-key": randomUUID() }) =>
      api.post(`${path}/events`, { events }, { headers });
    return { api, id, path, send };
  };
  type Send = (events: unknown, headers?: Record<string, string>) => Promise<Answer>;

  test("a trace is in the list and shows its roots and children immediately, with every field", async () => {
    const { api, id, path, send } = await freshRun();
    const trace_id = traceIdOf();
    const root = eventOf(trace_id, {
      started_at: "2026-11-20T10:00:00.000001Z",
      ended_at: "2026-11-20T12:00:01.500251+02:00",
      step: 7,
      rank: 0,
      thread_id: "th",
      rollout_id: "ro",
      attributes: { seed: 1, deep: { a: [1, null] } },
      metrics: { "reward.total": 0.5 },
      links: [{ to: "x" }],
      content_policy: "preview",
      input_preview: "in",
      redaction_state: "captured",
    });
    const child = eventOf(trace_id, {
      span_id: span(2).toUpperCase(),
      parent_span_id: span(1),
      name: "call",
      kind: "model",
      started_at: "2026-11-20T10:00:01Z",
      duration_ms: 2.5,
      metrics: { "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4, cost_usd: 0.25 },
    });
    expect(await send([root, child])).toMatchObject({
      status: 200,
      json: { inserted: 2, trace_ids: [trace_id], summary_updates: 1 },
    });
    const { traces, next_cursor, limit } = (await api.get(`/api/traces?run_id=${id}`)).json;
    expect({ next_cursor, limit }).toEqual({ next_cursor: null, limit: 50 });
    expect(traces).toEqual([
      {
        trace_id,
        run_id: id,
        project_id: expect.any(String),
        project: "demo",
        run_name: "r1",
        root_span_id: span(1),
        root_name: "roll",
        status: "ok",
        kinds: ["model", "rollout"],
        started_at: "2026-11-20T10:00:00.000001Z",
        ended_at: "2026-11-20T10:00:01.500251Z",
        duration_ms: 1500.25,
        span_count: 2,
        running_span_count: 0,
        error_count: 0,
        model_call_count: 1,
        tool_call_count: 0,
        retrieval_count: 0,
        reward_count: 0,
        input_tokens: 3,
        output_tokens: 4,
        cost_usd: 0.25,
        min_step: 7,
        max_step: 7,
        thread_id: "th",
        rollout_id: "ro",
        summary_metrics: { "reward.total": 0.5 },
        attributes: { root_count: 1, orphan_span_count: 0 },
        content_available: true,
        truncated: false,
        updated_at: expect.any(String),
      },
    ]);
    const detail = await api.get(`${path}/${trace_id.toUpperCase()}`);
    expect(detail.json).toEqual({
      trace: {
        trace_id,
        run_id: id,
        project_id: traces[0].project_id,
        project: "demo",
        run_name: "r1",
        root_span_id: span(1),
        root_name: "roll",
        status: "ok",
        started_at: "2026-11-20T10:00:00.000001Z",
        ended_at: "2026-11-20T10:00:01.500251Z",
        duration_ms: 1500.25,
        span_count: 2,
        running_span_count: 0,
        error_count: 0,
        content_available: true,
        payloads_truncated: false,
        summary_metrics: { "reward.total": 0.5 },
        attributes: { root_count: 1, orphan_span_count: 0, returned_span_count: 1 },
        summary: { run_name: "r1", project: "demo", returned_span_count: 1 },
        total_span_count: 2,
        root_count: 1,
        orphan_count: 0,
      },
      spans: [
        {
          trace_id,
          span_id: span(1),
          parent_span_id: null,
          name: "roll",
          kind: "rollout",
          status: "ok",
          started_at: "2026-11-20T10:00:00.000001Z",
          ended_at: "2026-11-20T10:00:01.500251Z",
          duration_ms: 1500.25,
          step: 7,
          rank: 0,
          thread_id: "th",
          rollout_id: "ro",
          attributes: { seed: 1, deep: { a: [1, null] } },
          metrics: { "reward.total": 0.5 },
          links: [{ to: "x" }],
          input_preview: "in",
          output_preview: "",
          error_type: null,
          error_preview: "",
          content_policy: "preview",
          redaction_state: "captured",
          truncated: false,
          child_count: 1,
          returned_child_count: 0,
          omitted_child_count: 1,
        },
      ],
      limits: { span_limit: 500, max_span_limit: 1000 },
      truncated: { spans: false, payloads: false, partial_tree: true },
      root_next_cursor: null,
    });
    const page = (await api.get(`${path}/${trace_id}/spans?parent_span_id=${span(1)}`)).json;
    expect(page).toMatchObject({
      parent_span_id: span(1),
      next_cursor: null,
      child_count: 1,
      returned: 1,
      omitted: 0,
      spans: [
        { span_id: span(2), parent_span_id: span(1), ended_at: null, duration_ms: 2.5, links: [], attributes: {} },
      ],
    });
  });

  test("pages of roots and children continue where the one before ended", async () => {
    const { api, path, send } = await freshRun();
    const trace_id = traceIdOf();
    const events = Array.from({ length: 30 }, (_, i) =>
      eventOf(trace_id, {
        span_id: span(i + 1),
        // Every third one is a root.
        ...(i % 3 === 0 ? {} : { parent_span_id: span(1) }),
        started_at: `2026-11-20T10:00:${String(59 - i)}Z`,
      }),
    );
    await send(events.slice(0, 11));
    await send(events.slice(11));
    const detail = (await api.get(`${path}/${trace_id}?span_limit=4`)).json;
    expect(detail).toMatchObject({
      trace: { span_count: 30, root_count: 10 },
      truncated: { spans: true, partial_tree: true },
      limits: { span_limit: 4 },
    });
    const roots = [...detail.spans];
    for (let cursor = detail.root_next_cursor; cursor !== null;) {
      const page = (await api.get(`${path}/${trace_id}/spans?limit=5&cursor=${cursor}`)).json;
      expect(page).toMatchObject({ child_count: 10, omitted: 10 - page.spans.length });
      roots.push(...page.spans);
      cursor = page.next_cursor;
    }
    const wanted = events.filter((_, i) => i % 3 === 0).map(({ span_id }) => span_id);
    expect(roots.map(({ span_id }) => span_id)).toEqual(wanted.toReversed());
    expect((await api.get(`${path}/${trace_id}/spans?parent_span_id=${span(99)}`)).json).toMatchObject({
      spans: [],
      child_count: 0,
    });
  });

  test("spans of the whole trace are selected: orphans and cycles, failed ones, the slowest, and the path to one", async () => {
    const { api, path, send } = await freshRun();
    const trace_id = traceIdOf();
    const at = (second: number): string => `2026-11-20T10:00:${String(second).padStart(2, "0")}Z`;
    const of = (number: number, parent: number | undefined, end: number, status = "ok") =>
      eventOf(trace_id, {
        span_id: span(number),
        ...(parent === undefined ? {} : { parent_span_id: span(parent) }),
        status,
        started_at: at(number),
        ended_at: at(end),
      });
    await send([of(1, undefined, 59), of(2, 1, 50), of(3, 2, 9), of(4, 2, 20, "error"), of(5, 99, 6, "error")]);
    // Two requests, because one with a cycle is refused.
    await send([of(6, 7, 7)]);
    await send([of(7, 6, 8)]);
    const select = async (query: string) => {
      const { json } = await api.get(`${path}/${trace_id}/spans?${query}`);
      return { ids: json.spans.map((one: { span_id: string }) => one.span_id), ...json };
    };
    const ids = (...numbers: number[]) => numbers.map(span);
    const orphans = await select("select=orphans&limit=1");
    expect(orphans).toMatchObject({ ids: ids(5), child_count: 2, omitted: 1 });
    expect(await select(`select=orphans&cursor=${orphans.next_cursor}`)).toMatchObject({
      ids: ids(6),
      next_cursor: null,
    });
    expect(await select("select=failed")).toMatchObject({ ids: ids(4, 5), child_count: 2 });
    expect(await select("select=slowest&limit=2")).toMatchObject({ ids: ids(4, 3), next_cursor: null });
    expect(await select(`select=path&parent_span_id=${span(4)}`)).toMatchObject({ ids: ids(1, 2, 4) });
    expect((await select(`select=path&parent_span_id=${span(7)}`)).ids.toSorted()).toEqual(ids(6, 7));
    expect((await api.get(`${path}/${trace_id}/spans?select=other`)).json.field).toBe("select");
    expect((await api.get(`${path}/${trace_id}/spans?select=path`)).json.field).toBe("parent_span_id");
  });

  test("a key is used once: the same request gets the same answer, another one 409", async () => {
    const { api, path, send } = await freshRun();
    const [trace_id, key] = [traceIdOf(), { "idempotency-key": randomUUID() }];
    const event = eventOf(trace_id, { started_at: "2026-11-20T10:00:00Z" });
    const first = await send([event], key);
    expect([first.status, first.headers["idempotency-replayed"]]).toEqual([200, undefined]);
    const same = { ...event, started_at: "2026-11-20T12:00:00+02:00", extra: 1 };
    const again = await send([same], key);
    expect([again.status, again.json, again.headers["idempotency-replayed"]]).toEqual([200, first.json, "true"]);
    const other = await send([{ ...event, name: "other" }], key);
    expect([other.status, other.json.code]).toEqual([409, "idempotency_key_reused"]);
    expect((await api.get(`${path}/${trace_id}`)).json.spans[0].name).toBe("roll");
  });

  test("filters and cursors of the list", async () => {
    const { api, id, send } = await freshRun();
    const ids = Array.from({ length: 9 }, traceIdOf);
    const now = Date.now();
    const seconds = [3, 1, 9, 2, 4, 8, 5, 7, 6];
    const events = ids.map((trace_id, i) =>
      eventOf(trace_id, {
        name: `Job-${i} 100%_x`,
        ended_at: new Date(now - 60_000 * (9 - i) + 1000 * seconds[i]!).toISOString(),
        metrics: { "gen_ai.usage.input_tokens": { 4: 100, 8: 50 }[i] ?? 0, ...(i === 1 ? { cost_usd: 0.5 } : {}) },
        kind: i === 3 ? "tool" : "model",
        status: ["ok", "error", "running"][i % 3],
        ...(i === 8 ? {} : { step: i - 4 }),
        thread_id: i < 5 ? "thread-a" : "thread-b",
        started_at: new Date(now - 60_000 * (9 - i)).toISOString(),
      }),
    );
    await send(events);
    const sorted = async (sort: string, more = "") => {
      const answer = (await api.get(`/api/traces?run_id=${id}&sort=${sort}&limit=4${more}`)).json;
      return { ...answer, found: answer.traces.map((trace: { trace_id: string }) => ids.indexOf(trace.trace_id)) };
    };
    const longest = await sorted("duration");
    expect(longest).toMatchObject({ found: [2, 5, 7, 8], sorted_count: 9 });
    expect(await sorted("duration", `&cursor=${longest.next_cursor}`)).toMatchObject({ found: [6, 4, 0, 3] });
    expect((await sorted("tokens")).found).toEqual([4, 8, 7, 6]);
    expect((await sorted("cost", "&status=error")).found).toEqual([1, 7, 4]);
    expect(await sorted("started")).not.toHaveProperty("sorted_count");
    expect((await api.get(`/api/traces?run_id=${id}&sort=name`)).json.field).toBe("sort");
    const found = async (query: string): Promise<number[]> => {
      const answer = await api.get(`/api/traces?${query}`);
      expect([query, answer.status]).toEqual([query, 200]);
      return answer.json.traces.map(({ trace_id }: { trace_id: string }) => ids.indexOf(trace_id));
    };
    const silent = (await api.post("/runs", { name: "silent", project: "demo" })).json.run.id as string;
    expect(await found(`run_id=${silent}&run_ids=${id}`)).toEqual([]);
    for (const scope of [`run_id=${id}`, "project=demo", `run_ids=${silent},${id}&project=elsewhere`]) {
      expect(await found(scope)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
      expect(await found(`${scope}&status=all&kind=all`)).toHaveLength(9);
      expect(await found(`${scope}&status=error`)).toEqual([7, 4, 1]);
      expect(await found(`${scope}&status=running`)).toEqual([8, 5, 2]);
      expect(await found(`${scope}&status=cancelled`)).toEqual([]);
      expect(await found(`${scope}&kind=tool`)).toEqual([3]);
      expect(await found(`${scope}&kind=tool&status=error`)).toEqual([]);
      expect(await found(`${scope}&min_step=-1&max_step=2`)).toEqual([6, 5, 4, 3]);
      expect(await found(`${scope}&max_step=-3&status=running`)).toEqual([]);
      expect(await found(`${scope}&max_step=-2&status=running`)).toEqual([2]);
      expect(await found(`${scope}&min_step=3`)).toEqual([7]);
      expect(await found(`${scope}&q=job-5`)).toEqual([5]);
      expect(await found(`${scope}&q=THREAD-B+100%25_`)).toEqual([8, 7, 6, 5]);
      expect(await found(`${scope}&q=100%25x`)).toEqual([]);
      expect(await found(`${scope}&q=${ids[4]!.slice(0, 9).toUpperCase()}`)).toEqual([4]);
      const [from, to] = [String(events[2]!["started_at"]), String(events[5]!["started_at"])];
      expect(await found(`${scope}&from=${from}&to=${to}`)).toEqual([4, 3, 2]);
      for (const filter of ["", "&status=ok", "&q=job", "&status=running"]) {
        const pages: string[] = [];
        for (let cursor: string | null = ""; cursor !== null;) {
          const page: Answer = await api.get(`/api/traces?${scope}${filter}&limit=2&cursor=${cursor}`);
          pages.push(...page.json.traces.map(({ trace_id }: { trace_id: string }) => trace_id));
          cursor = page.json.next_cursor;
        }
        expect(pages).toEqual((await found(`${scope}${filter}`)).map((i) => ids[i]));
      }
    }
  });

  test("a project's list covers seven days by default, a run's all time", async () => {
    const { api, id, send } = await freshRun();
    await send([eventOf(traceIdOf(), { started_at: "2020-01-01T00:00:00Z" })]);
    const count = async (query: string): Promise<number> => (await api.get(`/api/traces?${query}`)).json.traces.length;
    expect(await count(`run_id=${id}`)).toBe(1);
    expect(await count("project=demo")).toBe(0);
    expect(await count("project=demo&from=2019-12-31T00:00:00Z")).toBe(1);
    expect(await count("project=demo&to=2020-01-02T00:00:00Z")).toBe(1);
  });

  test.each<[string, unknown, string]>([
    ["no events", [], "events"],
    ["501 events", Array.from({ length: 501 }, (_, i) => eventOf("1".repeat(32), { span_id: span(i + 1) })), "events"],
    ["no list", {}, "events"],
    ["a trace id of zeros", [eventOf("0".repeat(32))], "events"],
    ["a short span id", [eventOf("1".repeat(32), { span_id: "12" })], "events"],
    ["a span as its own parent", [eventOf("1".repeat(32), { parent_span_id: span(1) })], "events"],
    ["a negative sequence", [eventOf("1".repeat(32), { sequence: -1 })], "events"],
    ["no UUID as event id", [eventOf("1".repeat(32), { event_id: "x" })], "events"],
    ["an unknown event kind", [eventOf("1".repeat(32), { event_kind: "begun" })], "events"],
    ["an unknown kind", [eventOf("1".repeat(32), { kind: "llm" })], "events"],
    ["an unknown status", [eventOf("1".repeat(32), { status: "fine" })], "events"],
    ["a name of 513 bytes", [eventOf("1".repeat(32), { name: "n".repeat(513) })], "events"],
    ["a blank name", [eventOf("1".repeat(32), { name: " " })], "events"],
    ["a thread of 513 bytes", [eventOf("1".repeat(32), { thread_id: "n".repeat(513) })], "events"],
    ["a rollout of 513 bytes", [eventOf("1".repeat(32), { rollout_id: "n".repeat(513) })], "events"],
    ["an error type of 513 bytes", [eventOf("1".repeat(32), { error_type: "n".repeat(513) })], "events"],
    ["a time without a zone", [eventOf("1".repeat(32), { started_at: "2026-11-20T10:00:00" })], "events"],
    [
      "an end that is 1.001 s before the start",
      [eventOf("1".repeat(32), { started_at: "2026-11-20T10:00:01.001Z", ended_at: "2026-11-20T10:00:00Z" })],
      "events",
    ],
    ["a negative duration", [eventOf("1".repeat(32), { duration_ms: -1 })], "events"],
    ["a text as step", [eventOf("1".repeat(32), { step: "1" })], "events"],
    ["a negative rank", [eventOf("1".repeat(32), { rank: -1 })], "events"],
    ["attributes above 32 KiB", [eventOf("1".repeat(32), { attributes: { a: "x".repeat(32 * 1024) } })], "events"],
    ["metrics above 16 KiB", [eventOf("1".repeat(32), { metrics: { a: "x".repeat(16 * 1024) } })], "events"],
    ["links above 16 KiB", [eventOf("1".repeat(32), { links: ["x".repeat(16 * 1024)] })], "events"],
    ["a text as links", [eventOf("1".repeat(32), { links: "x" })], "events"],
    ["a preview without its policy", [eventOf("1".repeat(32), { input_preview: "x" })], "events"],
    [
      "a preview above 4 KiB",
      [eventOf("1".repeat(32), { content_policy: "preview", output_preview: "x".repeat(4097) })],
      "events",
    ],
    ["captured content without its policy", [eventOf("1".repeat(32), { redaction_state: "captured" })], "events"],
    ["an unknown policy", [eventOf("1".repeat(32), { content_policy: "all" })], "events"],
  ])("%s is 400, and nothing is stored", async (_, events, field) => {
    const { api, id, send } = await freshRun();
    const sent = Array.isArray(events) && events.length > 0 ? [eventOf(traceIdOf()), ...events] : events;
    expect(await send(Array.isArray(events) && events.length > 500 ? events : sent)).toMatchObject({
      status: 400,
      json: { error: expect.any(String), field },
    });
    expect((await api.get(`/api/traces?run_id=${id}`)).json.traces).toEqual([]);
  });

  test.each<[string, Event[]]>([
    [
      "an event id twice",
      [
        { event_id: "0c9b8a1e-1111-4222-8333-444455556666" },
        { event_id: "0c9b8a1e-1111-4222-8333-444455556666", sequence: 2 },
      ],
    ],
    ["a sequence of a span twice", [{}, {}]],
    ["two parents of a span", [{ parent_span_id: span(8) }, { parent_span_id: span(9), sequence: 2 }]],
    ["parents in a circle", [{ parent_span_id: span(2) }, { span_id: span(2), parent_span_id: span(1) }]],
  ])("%s within a request is 400", async (_, events) => {
    const { send } = await freshRun();
    const trace_id = traceIdOf();
    const answer = await send(events.map((fields) => eventOf(trace_id, fields)));
    expect(answer).toMatchObject({ status: 400, json: { field: "events" } });
  });

  test("events at the limits are accepted", async () => {
    const { send } = await freshRun();
    const trace_id = traceIdOf();
    const largest = eventOf(trace_id, {
      name: "n".repeat(512),
      attributes: { a: "x".repeat(32 * 1024 - 8) },
      metrics: { a: "x".repeat(16 * 1024 - 8) },
      links: ["x".repeat(16 * 1024 - 4)],
      content_policy: "preview",
      input_preview: "é".repeat(2048),
      started_at: "2026-11-20T10:00:01Z",
      ended_at: "2026-11-20T10:00:00Z",
      step: -1.5,
    });
    expect((await send([largest])).status).toBe(200);
    const events = Array.from({ length: 500 }, (_, i) => eventOf(trace_id, { span_id: span(i + 2) }));
    expect((await send(events)).json).toMatchObject({ inserted: 500, summary_updates: 1 });
  });

  test("the key is required, and has at most 200 visible characters", async () => {
    const { send } = await freshRun();
    const events = [eventOf(traceIdOf())];
    for (const headers of [
      {},
      { "idempotency-key": " " },
      { "idempotency-key": "k".repeat(201) },
      { "idempotency-key": "ä" },
    ]) {
      expect([headers, (await send(events, headers as Record<string, string>)).status]).toEqual([headers, 400]);
    }
    expect((await send(events, { "idempotency-key": "k".repeat(200) })).status).toBe(200);
  });

  test.each([
    ["", 400, "project"],
    ["project=demo&status=fine", 400, "status"],
    ["project=demo&kind=llm", 400, "kind"],
    ["project=demo&limit=201", 400, "limit"],
    ["project=demo&limit=0", 400, "limit"],
    ["project=demo&cursor=x", 400, "cursor"],
    ["project=demo&min_step=2&max_step=1", 400, "min_step"],
    ["project=demo&min_step=x", 400, "min_step"],
    ["project=demo&from=yesterday", 400, "from"],
    ["project=demo&from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", 400, "to"],
    [`project=demo&q=${"q".repeat(513)}`, 400, "q"],
    ["project=elsewhere&limit=0", 404, undefined],
    [`project_id=${randomUUID()}`, 404, undefined],
    ["project_id=x", 404, undefined],
    [`run_id=${randomUUID()}`, 404, undefined],
  ])("GET /api/traces?%s is %d", async (query, status, field) => {
    const { api } = await freshRun();
    const answer = await api.get(`/api/traces?${query}`);
    expect([answer.status, answer.json.field]).toEqual([status, field]);
  });

  test("missing runs and traces are 404, bad ids of traces and parents 400", async () => {
    const { api, path, send } = await freshRun();
    const trace_id = traceIdOf();
    const of = async (route: string): Promise<number> => (await api.get(route)).status;
    expect(await of(`${path}/${trace_id}`)).toBe(404);
    expect(await of(`${path}/${trace_id}/spans`)).toBe(404);
    expect(await of(`${path}/xyz`)).toBe(400);
    expect(await of(`/api/runs/${randomUUID()}/traces/${trace_id}`)).toBe(404);
    await send([eventOf(trace_id)]);
    expect(await of(`${path}/${trace_id}?span_limit=1001`)).toBe(400);
    expect(await of(`${path}/${trace_id}/spans?limit=501`)).toBe(400);
    expect(await of(`${path}/${trace_id}/spans?parent_span_id=1`)).toBe(400);
    expect(await of(`${path}/${trace_id}/spans?cursor=e30`)).toBe(400);
    const missing = `/api/runs/${randomUUID()}/traces/events`;
    expect((await api.post(missing, { events: [] }, { headers: { "idempotency-key": "k" } })).status).toBe(404);
  });

  test("an organization that has to pay first gets 402 for events, and can still read", async () => {
    const { api, orgId } = await stack().organization({ plan: "pro" });
    const { id } = (await api.post("/runs", { project: "demo" })).json.run;
    await api.patch(`/api/orgs/${orgId}`, { billing_state: "read_only_payment_required" }, asOperator(stack()));
    const events = [eventOf(traceIdOf())];
    const answer = await api.post(`/api/runs/${id}/traces/events`, { events }, { headers: { "idempotency-key": "k" } });
    expect([answer.status, answer.json.code]).toEqual([402, "payment_required"]);
    expect((await api.get(`/api/traces?run_id=${id}`)).status).toBe(200);
  });

  test("a key without the scope is 403, no key 401", async () => {
    const { api, orgId } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    const path = `/api/runs/${id}/traces`;
    const wanted = { name: "reader", scopes: ["export:read"] };
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, wanted, asOperator(stack()));
    const reader = api.as(made.json.api_key);
    const headers = { "idempotency-key": "k" };
    expect((await reader.post(`${path}/events`, { events: [] }, { headers })).status).toBe(403);
    expect((await reader.get(`/api/traces?run_id=${id}`)).status).toBe(200);
    expect((await api.as(null).get(`/api/traces?run_id=${id}`)).status).toBe(401);
  });
});
