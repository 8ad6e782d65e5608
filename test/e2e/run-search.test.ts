import { describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";
import { projectKey, stopOf } from "../stack/run-control.ts";

// One file, because all cases share a stack in each mode.

type Run = { id: string; name: string; run_control: { display_status: string } };
const namesIn = (answer: Answer): string[] => (answer.json.runs as Run[]).map(({ name }) => name);
const idsIn = (answer: Answer): string[] => (answer.json.runs as Run[]).map(({ id }) => id);
const query = (parameters: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)])).toString();

const LISTS = ["/runs", "/api/runs/summary"] as const;
const ROUTES = [...LISTS, "/api/overview"] as const;

describeModes("run search", (stack) => {
  const fresh = async (): Promise<Api> => (await stack().organization()).api;
  const make = async (api: Api, body: Record<string, unknown> = {}): Promise<string> => {
    const made = await api.post("/runs", body);
    expect(made.status).toBe(200);
    return made.json.run.id as string;
  };
  const fine = async (api: Api, path: string): Promise<Answer> => {
    const answer = await api.get(path);
    expect([answer.status, answer.json?.error]).toEqual([200, undefined]);
    return answer;
  };
  const search = async (api: Api, q: string, more: Readonly<Record<string, string | number>> = {}): Promise<string[]> =>
    namesIn(await fine(api, `/runs?${query({ q, ...more })}`)).toSorted();

  describe.each(ROUTES)("GET %s", (route) => {
    test("200 for a key that may read, and for every session", async () => {
      const team = await createTeam(stack());
      const viewer = await team.join("viewer");
      const issued = await stack().api.post(
        `/api/orgs/${team.orgId}/api-keys`,
        { scopes: ["export:read"] },
        { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } },
      );
      for (const who of [viewer.browser, team.owner.browser, stack().api.as(issued.json.api_key)]) {
        expect((await who.get(`${route}?q=tag%3Ax`)).status).toBe(200);
        expect((await who.get(route)).status).toBe(200);
      }
    });

    test("401 without credentials or with wrong ones", async () => {
      const { key } = await stack().organization();
      const credentials: Record<string, string>[] = [
        {},
        { authorization: "Bearer tm_x" },
        { authorization: `Basic ${key}` },
      ];
      for (const headers of credentials) {
        const answer = await stack().api.get(`${route}?q=status:bad&limit=0`, { headers });
        expect(answer).toMatchObject({ status: 401, json: { error: expect.any(String) } });
        expect(answer.headers["x-request-id"]).toEqual(expect.any(String));
      }
    });

    test("403 for a key that may not read", async () => {
      const { api } = await stack().organization({ scopes: ["sdk:ingest", "runs:control"] });
      const answer = await api.get(route);
      expect(answer).toMatchObject({ status: 403, json: { error: expect.stringContaining("export:read") } });
    });

    test("405 for methods that do not read, and HEAD as GET", async () => {
      const api = await fresh();
      expect((await api.call("DELETE", route)).status).toBe(405);
      const head = await api.call("HEAD", `${route}?q=a`);
      expect([head.status, head.text]).toEqual([200, ""]);
      expect((await api.call("HEAD", `${route}?q=status:bad`)).status).toBe(400);
    });

    test.each<[what: string, q: string, error: string, position: number]>([
      ["an unknown status", "status:paused", "unknown status", 1],
      ["a fault further on", '"a b" name:""', "empty phrase", 7],
      ["33 terms", "a ".repeat(33), "more than 32 terms", 1],
      ["513 bytes", "a".repeat(513), "longer than 512 bytes", 1],
      ["nine levels", `${"(".repeat(9)}a${")".repeat(9)}`, "nested deeper than 8 levels", 1],
      ["65 nodes", "NOT a ".repeat(32), "more than 64 terms and operators", 1],
      ["an invalid expression", "a re:/(/", "invalid regular expression", 3],
      ["an expression that empty text matches", "tag:re:/x*/", "regular expression matches empty text", 1],
      ["an expression of 129 bytes", `re:/${"a".repeat(129)}/`, "regular expression longer than 128 bytes", 1],
      ["a fifth expression", "re:/a/ ".repeat(5), "more than 4 regular expressions", 29],
      ["an expression of an id", "id:re:/abcd/", "id takes no regular expression", 1],
      ["columns in characters", "\u{1F600}\u{1F600} status:Running", "unknown status", 4],
    ])("400 run_search_invalid for %s", async (_what, q, error, position) => {
      const api = await fresh();
      const answer = await api.get(`${route}?${query({ q, project: "nowhere" })}`);
      expect([answer.status, answer.json]).toEqual([
        400,
        {
          error: `Invalid run search: ${error} (column ${position}).`,
          code: "run_search_invalid",
          field: "q",
          position,
        },
      ]);
      expect((await api.get(`${route}?${query({ q })}`)).json).toEqual(answer.json);
    });

    test.each([
      ["a parameter twice", "q=a&q=b", "q"],
      ["a blank one twice", "status=&status=", "status"],
      ["a metric key of 513 bytes", `metric_key=${"k".repeat(513)}`, "metric_key"],
    ])("400 for %s", async (_what, text, field) => {
      const answer = await (await fresh()).get(`${route}?${text}`);
      expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String), field } });
      expect(answer.json).not.toHaveProperty("code");
    });

    test.each(["q=%", "q=%E0%A4%A", "project=a%00b"])("400 for the query %s", async (text) => {
      expect((await (await fresh()).get(`${route}?${text}`)).status).toBe(400);
    });
  });

  describe.each(LISTS)("GET %s", (route) => {
    test.each([
      ["sort_by=size", "sort_by"],
      ["sort_by=NAME", "sort_by"],
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["limit=abc", "limit"],
      ["limit=1.5", "limit"],
      ["limit=-1", "limit"],
      ["limit=1e2", "limit"],
      ["offset=-1", "offset"],
      ["offset=x", "offset"],
      ["offset=0.5", "offset"],
      ["limit=1&limit=1", "limit"],
    ])("?%s is 400", async (text, field) => {
      const api = await fresh();
      expect(await api.get(`${route}?${text}`)).toMatchObject({
        status: 400,
        json: { error: expect.any(String), field },
      });
    });

    test("treats blank parameters as absent, and the limits at their bounds", async () => {
      const api = await fresh();
      await make(api, { name: "one" });
      for (const text of [
        "project=&project_id=&status=&display_status=&q=&sort_by=&metric_key=&limit=&offset=",
        "limit=1",
        "limit=1000&offset=0",
        "project=all&status=all&display_status=all",
        "sort_by=created&q=+%20+",
        "colour=red",
      ]) {
        expect(namesIn(await fine(api, `${route}?${text}`))).toEqual(["one"]);
      }
      for (const text of ["offset=1", "offset=9007199254740991", "status=paused", "display_status=x", "project=ONE"]) {
        expect(namesIn(await fine(api, `${route}?${text}`))).toEqual([]);
      }
    });
  });

  test("GET /api/runs/summary has its total, keys and page, for any projection", async () => {
    const api = await fresh();
    const first = await make(api, { name: "a", project: "p", config: { lr: 0.1 }, tags: ["t"] });
    const second = await make(api, { name: "b" });
    await api.post(`/runs/${first}/metrics`, { metrics: { loss: 0.5, "a/b": 1 }, step: 1 });
    await api.post(`/runs/${second}/metrics`, { metrics: { score: 2 }, step: 1 });
    const page = await fine(api, "/api/runs/summary?limit=1");
    expect(Object.keys(page.json).toSorted()).toEqual(["metric_keys", "next_cursor", "page_info", "runs", "total"]);
    expect(page.json).toMatchObject({
      runs: [{ id: second, latest_metrics: { score: 2 } }],
      metric_keys: ["score"],
      total: 2,
      next_cursor: expect.any(String),
      page_info: { pagination: "cursor", has_next_page: true },
    });
    const last = await fine(api, `/api/runs/summary?${query({ limit: 1, cursor: page.json.next_cursor })}`);
    expect(last.json).toMatchObject({
      runs: [{ id: first, metric_aggregates: { loss: { latest: 0.5, count: 1 } } }],
      metric_keys: ["a/b", "loss"],
      total: 2,
      next_cursor: null,
      page_info: { pagination: "cursor", has_next_page: false },
    });
    const selection = await fine(api, "/api/runs/summary?projection=selection&q=tag:t");
    expect(selection.json).toMatchObject({ projection: "selection", metric_keys: [], total: 1, next_cursor: null });
    expect(selection.json.runs).toMatchObject([
      {
        id: first,
        config: { lr: 0.1 },
        latest_metrics: {},
        metric_aggregates: {},
        metric_keys: [],
        artifact_counts: { checkpoint: 0, rollout: 0, file: 0 },
        run_control: { stop_state: "none", display_status: "running" },
      },
    ]);
    expect((await fine(api, "/api/runs/summary?projection=all&limit=1")).json).not.toHaveProperty("projection");
  });

  test("invalid cursors and those of another list are 400; offset:<n> is valid", async () => {
    const api = await fresh();
    for (const name of ["a", "b", "c"]) await make(api, { name });
    const cursor = (await fine(api, "/api/runs/summary?limit=1&sort_by=name")).json.next_cursor as string;
    for (const [other, sort] of [
      ["garbage", "name"],
      ["offset:-1", "name"],
      ["offset:x", "name"],
      [`${cursor}x`, "name"],
      [cursor, "created"],
      [cursor, "status"],
      ["x".repeat(8000), "name"],
    ] as const) {
      const answer = await api.get(`/api/runs/summary?${query({ cursor: other, sort_by: sort })}`);
      expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String), field: "cursor" } });
    }
    const go = async (parameters: Record<string, string | number>): Promise<string[]> =>
      namesIn(await fine(api, `/api/runs/summary?${query({ sort_by: "name", ...parameters })}`));
    expect(await go({ cursor })).toEqual(["b", "c"]);
    expect(await go({ cursor, offset: 3 })).toEqual(["b", "c"]);
    expect(await go({ cursor: "offset:2" })).toEqual(["c"]);
    expect(await go({ cursor: "offset:0", offset: 3 })).toEqual(["a", "b", "c"]);
    expect(await go({ cursor: " ", offset: 2 })).toEqual(["c"]);
  });

  test("120 runs are returned page by page, each once, while others are created", async () => {
    const api = await fresh();
    const before: string[] = [];
    for (let n = 0; n < 120; n += 20) {
      before.push(...(await Promise.all(Array.from({ length: 20 }, (_, k) => make(api, { name: `run ${n + k}` })))));
    }
    let making = true;
    const added: string[] = [];
    const maker = (async () => {
      while (making) added.push(await make(api, { name: "late" }));
    })();
    try {
      for (const sort of ["created", "name", "duration", "metric-best"]) {
        const seen: string[] = [];
        for (let cursor: string | null = ""; cursor !== null;) {
          const page = await fine(api, `/api/runs/summary?${query({ sort_by: sort, limit: 25, cursor })}`);
          seen.push(...idsIn(page));
          cursor = page.json.next_cursor as string | null;
        }
        expect(new Set(seen).size).toBe(seen.length);
        const known = new Set(before);
        expect(seen.filter((id) => known.has(id)).toSorted()).toEqual(before.toSorted());
      }
    } finally {
      making = false;
      await maker;
    }
    expect((await fine(api, "/api/runs/summary?limit=1")).json.total).toBe(120 + added.length);
    expect((await fine(api, "/api/overview")).json.overview.total_runs).toBe(120 + added.length);
  });

  test("acknowledged writes are in the very next answer", async () => {
    const api = await fresh();
    for (let n = 1; n <= 5; n += 1) {
      const name = `fresh ${n}`;
      const id = await make(api, {
        name,
        tags: [`new-${n}`],
        config: { marker: `c${n}x` },
        metadata: { notes: `n${n}x` },
      });
      const total = async (parameters: Record<string, string>): Promise<number> =>
        (await fine(api, `/api/runs/summary?${query(parameters)}`)).json.total as number;
      expect(await total({})).toBe(n);
      for (const q of [
        `tag:new-${n}`,
        `c${n}x`,
        `notes:n${n}x`,
        `id:${id}`,
        `name:"fresh ${n}"`,
        `re:/^default fresh ${n}/`,
      ]) {
        expect(await search(api, q)).toEqual([name]);
      }
      await api.patch(`/runs/${id}`, { tags: [`old-${n}`], notes: `m${n}x` });
      expect(await search(api, `tag:new-${n} OR n${n}x`)).toEqual([]);
      expect(await search(api, `tag:old-${n} m${n}x`)).toEqual([name]);
      await api.post(`/runs/${id}/metrics`, { metrics: { score: n, loss: n }, step: 0 });
      expect(namesIn(await fine(api, "/runs?sort_by=metric-best&metric_key=score&limit=1"))).toEqual([name]);
      expect(namesIn(await fine(api, "/runs?sort_by=metric-best&metric_key=loss&limit=1"))).toEqual(["fresh 1"]);
      expect((await fine(api, "/api/overview?metric_key=score")).json.overview).toMatchObject({
        total_runs: n,
        active_runs: 1,
        failed_runs: n - 1,
        best_eval_return: n,
        metric_points: 2 * n,
      });
      await api.patch(`/runs/${id}`, { status: "failed" });
      expect(await search(api, "status:running")).toEqual([]);
      expect(await total({ status: "failed" })).toBe(n);
      expect((await fine(api, "/api/overview")).json.overview).toMatchObject({ active_runs: 0, failed_runs: n });
    }
  });

  test("a stop shows in filters, searches and figures, from the request to its end", async () => {
    const api = await fresh();
    const id = await make(api, { name: "n" });
    const look = async () => {
      const { overview } = (await fine(api, "/api/overview")).json;
      const shown: string[] = [];
      for (const status of ["running", "stopping", "stopped", "finished", "failed"]) {
        const filtered = await fine(api, `/api/runs/summary?display_status=${status}`);
        expect(await search(api, `status:${status}`)).toEqual(namesIn(filtered));
        expect(filtered.json.total).toBe(filtered.json.runs.length);
        if (filtered.json.total === 1) shown.push(status);
      }
      const { active_runs: active, failed_runs: failed, stopping_runs: stopping, stopped_runs: stopped } = overview;
      return { shown, active, failed, stopping, stopped };
    };
    expect(await look()).toEqual({ shown: ["running"], active: 1, failed: 0, stopping: 0, stopped: 0 });
    const request = await stopOf(api, id);
    expect(await look()).toEqual({ shown: ["stopping"], active: 1, failed: 0, stopping: 1, stopped: 0 });
    expect(await search(api, "running")).toEqual(["n"]);
    const done = await api.post(`/api/runs/${id}/stop-ack`, { stop_request_id: request, state: "completed" });
    expect(done.status).toBe(200);
    expect(await look()).toEqual({ shown: ["stopped"], active: 0, failed: 1, stopping: 0, stopped: 1 });
    await api.post("/runs", { id, mode: "resume" });
    expect(await look()).toEqual({ shown: ["running"], active: 1, failed: 0, stopping: 0, stopped: 0 });
  });

  test("GET /api/overview has its figures, and null without a best value", async () => {
    const api = await fresh();
    const none = { total_runs: 0, active_runs: 0, failed_runs: 0, stopping_runs: 0, stopped_runs: 0 };
    expect((await fine(api, "/api/overview")).json).toEqual({
      overview: { ...none, best_eval_return: null, metric_points: 0 },
    });
    const id = await make(api, { project: "p", tags: ["t"] });
    await make(api, { project: "q" });
    await api.post(`/runs/${id}/metrics`, { metrics: { "eval/return_mean": 0.9, loss: 3 }, step: 0 });
    await api.post(`/runs/${id}/metrics`, { metrics: { "eval/return_mean": 0.7, loss: 2 }, step: 1 });
    const overview = async (text: string) => (await fine(api, `/api/overview?${text}`)).json.overview;
    expect(await overview("")).toMatchObject({ total_runs: 2, best_eval_return: 0.9, metric_points: 4 });
    expect(await overview("metric_key=loss")).toMatchObject({ best_eval_return: 2 });
    expect(await overview("metric_key=none")).toMatchObject({ best_eval_return: null });
    expect(await overview("project=p&q=tag:t")).toMatchObject({ total_runs: 1, active_runs: 1, metric_points: 4 });
    expect(await overview("project=q")).toMatchObject({ total_runs: 1, best_eval_return: null, metric_points: 0 });
    expect(await overview("status=finished")).toEqual({ ...none, best_eval_return: null, metric_points: 0 });
    // Order and page are not parameters of it.
    expect(await overview("limit=0&sort_by=size&cursor=x")).toMatchObject({ total_runs: 2 });
  });

  test("a project may be named by its id", async () => {
    const api = await fresh();
    await make(api, { name: "in", project: "p" });
    await make(api, { name: "out", project: "q" });
    const { projects } = (await api.get("/projects")).json as { projects: { id: string; name: string }[] };
    const projectId = projects.find(({ name }) => name === "p")!.id;
    expect(await search(api, "", { project_id: projectId })).toEqual(["in"]);
    expect(await search(api, "tag:none OR name:i", { project_id: projectId.toUpperCase() })).toEqual(["in"]);
    expect(await search(api, "", { project_id: projectId, project: "q" })).toEqual([]);
    expect(await search(api, "", { project_id: randomUUID() })).toEqual([]);
    expect(await search(api, "", { project_id: "p" })).toEqual([]);
    expect((await fine(api, `/api/runs/summary?project_id=${projectId}`)).json.total).toBe(1);
    expect((await fine(api, `/api/overview?project_id=${projectId}`)).json.overview.total_runs).toBe(1);
  });

  test("every kind of term finds what it should, alone and with others", async () => {
    const api = await fresh();
    const otter = await make(api, {
      name: "Calm Otter",
      project: "Vision",
      tags: ["base line", "50%+"],
      config: { seed: 13, opt: { name: "adam" } },
      metadata: { notes: "first & last", gpu: "a100" },
    });
    const lynx = await make(api, { name: "Swift Lynx", project: "Speech", tags: ["b"], config: { seed: 131 } });
    await api.patch(`/runs/${lynx}`, { status: "finished" });
    for (const [q, names] of [
      ["otter", ["Calm Otter"]],
      ['"calm otter"', ["Calm Otter"]],
      ["name:lynx", ["Swift Lynx"]],
      ["project:visi", ["Calm Otter"]],
      ["tag:50%+", ["Calm Otter"]],
      ['tag:"base line"', ["Calm Otter"]],
      ["tag:base", []],
      ['notes:"first & last"', ["Calm Otter"]],
      [String.raw`config:"\"seed\":13"`, ["Calm Otter", "Swift Lynx"]],
      [String.raw`config:"\"seed\":13}"`, ["Calm Otter"]],
      ["metadata:a100", ["Calm Otter"]],
      ["status:finished", ["Swift Lynx"]],
      [`id:${otter.slice(0, 13)}`, ["Calm Otter"]],
      ["-tag:b", ["Calm Otter"]],
      ["NOT otter", ["Swift Lynx"]],
      ["otter OR lynx", ["Calm Otter", "Swift Lynx"]],
      ["(otter OR lynx) status:finished", ["Swift Lynx"]],
      ["re:/ot{2}er/", ["Calm Otter"]],
      ["tag:re:/^b$/", ["Swift Lynx"]],
      ["-re:/[x]$/ status:re:/^run/", ["Calm Otter"]],
      ["-otter", []],
      ["tag:", []],
      ["(otter", []],
    ] as const) {
      expect([q, await search(api, q)]).toEqual([q, [...names]]);
      const summary = await fine(api, `/api/runs/summary?${query({ q })}`);
      expect([q, namesIn(summary).toSorted(), summary.json.total]).toEqual([q, [...names], names.length]);
      expect((await fine(api, `/api/overview?${query({ q })}`)).json.overview.total_runs).toBe(names.length);
    }
    // As browsers and by hand: a plus is a space, and escapes are read once.
    expect(namesIn(await fine(api, "/runs?q=calm+otter"))).toEqual(["Calm Otter"]);
    expect(namesIn(await fine(api, "/runs?q=tag:50%25%2B"))).toEqual(["Calm Otter"]);
    expect(namesIn(await fine(api, "/runs?q=tag:50%2525%252B"))).toEqual([]);
    expect(namesIn(await fine(api, "/runs?q=%22first+%26+last%22"))).toEqual(["Calm Otter"]);
  });

  test("runs that the caller may not see are neither found nor counted", async () => {
    const { api, orgId } = await stack().organization();
    const theirs = await make(api, { name: "secret", project: "theirs", tags: ["hidden"] });
    await api.post(`/runs/${theirs}/metrics`, { metrics: { score: 1 }, step: 0 });
    const mine = await projectKey(stack(), orgId, "mine", ["sdk:ingest", "export:read"]);
    const own = await make(mine, { name: "own" });
    await mine.post(`/runs/${own}/metrics`, { metrics: { score: 0.5 }, step: 0 });
    const stranger = await fresh();
    const { projects } = (await api.get("/projects")).json as { projects: { id: string; name: string }[] };
    const { id: project } = projects.find(({ name }) => name === "theirs")!;
    const { next_cursor: cursor } = (await fine(api, "/api/runs/summary?limit=1")).json as { next_cursor: string };
    for (const [who, sees] of [
      [mine, ["own"]],
      [stranger, []],
    ] as const) {
      for (const q of ["", "-tag:nothing", "-project:nothing", "re:/./", "-re:/zz/", "NOT name:re:/zz/"]) {
        expect([q, await search(who, q)]).toEqual([q, [...sees]]);
        expect((await fine(who, `/api/runs/summary?${query({ q })}`)).json.total).toBe(sees.length);
        const { overview } = (await fine(who, `/api/overview?${query({ q, metric_key: "score" })}`)).json;
        expect(overview).toMatchObject({
          total_runs: sees.length,
          metric_points: sees.length,
          best_eval_return: sees.length === 0 ? null : 0.5,
        });
      }
      for (const q of [
        "secret",
        "tag:hidden",
        "project:theirs",
        "project:re:/theirs/",
        `id:${theirs}`,
        "tag:re:/hid/",
      ]) {
        expect([q, await search(who, q)]).toEqual([q, []]);
      }
      expect(await search(who, "", { project: "theirs" })).toEqual([]);
      expect(await search(who, "", { project_id: project })).toEqual([]);
      expect(await search(who, "", { sort_by: "metric-best", metric_key: "score" })).toEqual([...sees]);
      expect(idsIn(await fine(who, `/api/runs/summary?${query({ cursor })}`))).not.toContain(theirs);
      expect((await fine(who, "/api/runs/summary")).json.metric_keys).toEqual(sees.length === 0 ? [] : ["score"]);
    }
  });
});
