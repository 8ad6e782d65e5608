import { afterEach, describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { createLog } from "@tidemark/telemetry";
import type { RunControlRow } from "./live-runs.rules.ts";
import { createRunDirectory, type RunDirectory, type RunReaders } from "./run-directory.ts";

const running: RunDirectory[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((runs) => runs.stop()));
});

const row = (id: string, status: RunControlRow["status"] = "running", org = "org"): RunControlRow => ({
  id,
  org_id: org,
  project_id: "project",
  status,
  stop_state: "none",
  stop_request_id: null,
  stop_requested_at: null,
  stop_acknowledged_at: null,
});

type Change = { row: RunControlRow; xid: number };

/** Creates a directory over readers whose answers the test chooses. */
function setUp(read: Partial<RunReaders> = {}) {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const server = { runs: [] as RunControlRow[], changes: [] as Change[], snapshot: "10:10:" };
  const asked: string[] = [];
  const runs = createRunDirectory({
    read: {
      runningPage: async ({ after, limit }) => {
        asked.push(`running after ${after.id}`);
        const rows = server.runs.filter(({ id, status }) => status === "running" && id > after.id).slice(0, limit);
        return { snapshot: server.snapshot, rows };
      },
      changedPage: async ({ since, after, limit }) => {
        asked.push(`changed since ${since} after ${after.xid}/${after.id}`);
        const found = server.changes
          .filter(({ row: { id }, xid }) => xid > Number(after.xid) || (xid === Number(after.xid) && id > after.id))
          .slice(0, limit);
        const last = found.at(-1);
        return {
          snapshot: server.snapshot,
          rows: found.map((change) => change.row),
          last: last === undefined ? undefined : { xid: String(last.xid), id: last.row.id },
        };
      },
      run: async (orgId, runId) => {
        asked.push(`run ${runId}`);
        return server.runs.find(({ id, org_id }) => id === runId && org_id === orgId);
      },
      ...read,
    },
    nowMs: () => clock.ms,
    log: createLog({ level: "info", service: "test", destination: { write: (line) => lines.push(line) } }),
    pageRows: 2,
  });
  running.push(runs);
  return { runs, clock, server, asked, lines };
}

const NIL = "00000000-0000-0000-0000-000000000000";

describe("reading", () => {
  test("all running runs are returned in pages, then what changed since the first of them", async () => {
    const { runs, server, asked } = setUp();
    server.runs = ["a", "b", "c"].map((id) => row(id));
    expect(runs.loaded()).toBe(false);
    await runs.catchUp();
    expect(runs.loaded()).toBe(true);
    expect(asked).toEqual([`running after ${NIL}`, "running after b"]);

    server.changes = [
      { row: row("a", "finished"), xid: 11 },
      { row: row("d"), xid: 11 },
      { row: row("e"), xid: 12 },
    ];
    server.snapshot = "13:13:";
    asked.length = 0;
    await runs.catchUp();
    expect(asked).toEqual([`changed since 10:10: after 10/${NIL}`, "changed since 10:10: after 11/d"]);
    expect(runs.count()).toEqual({ running: 4, ended: 1 });
    asked.length = 0;
    server.changes = [];
    await runs.catchUp();
    expect(asked).toEqual([`changed since 13:13: after 13/${NIL}`]);
  });

  test("a run in memory needs no read; another organization's run is not found", async () => {
    const { runs, server, asked } = setUp();
    server.runs = [row("a"), row("b", "running", "other")];
    await runs.catchUp();
    asked.length = 0;
    for (let i = 0; i < 100; i += 1) expect(await runs.find("org", "a")).toMatchObject({ status: "running" });
    expect(await runs.find("org", "b")).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test("a snapshot that fails starts over, and nothing is loaded before", async () => {
    let calls = 0;
    const { runs } = setUp({
      runningPage: async () => {
        calls += 1;
        if (calls === 2) throw new Error("gone");
        return { snapshot: "1:1:", rows: calls === 3 ? [row("c")] : [row("a"), row("b")] };
      },
    });
    await runs.catchUp();
    expect(runs.loaded()).toBe(false);
    await runs.catchUp();
    expect(runs.loaded()).toBe(true);
    expect(runs.count()).toEqual({ running: 1, ended: 0 });
  });

  test.each([
    ["is a warning", new Error("gone"), "warn"],
    ["is none before the runs service has set up its schema", Object.assign(new Error("x"), { code: "3F000" }), "info"],
  ])("a failure %s, and said once", async (_what, error, level) => {
    const { runs, lines } = setUp({ runningPage: () => Promise.reject(error) });
    await runs.catchUp();
    await runs.catchUp();
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([level]);
  });

  test("changes whose read fails are read again from the same point", async () => {
    const since: string[] = [];
    const full = { snapshot: "12:12:", rows: [row("a"), row("b")], last: { xid: "11", id: "b" } };
    const rest = { snapshot: "13:13:", rows: [row("c")], last: { xid: "11", id: "c" } };
    const answers = [full, undefined, full, rest];
    const { runs } = setUp({
      changedPage: async (page) => {
        since.push(page.since);
        const answer = answers[since.length - 1];
        if (since.length > answers.length) return { ...rest, rows: [], last: undefined };
        if (answer === undefined) throw new Error("gone");
        return answer;
      },
    });
    for (let pass = 0; pass < 4; pass += 1) await runs.catchUp();
    expect(since).toEqual(["10:10:", "10:10:", "10:10:", "10:10:", "12:12:"]);
    expect(runs.count().running).toBe(3);
  });

  test("a server that went back to its past is read from the beginning", async () => {
    const { runs, server } = setUp();
    server.runs = [row("a"), row("b")];
    await runs.catchUp();
    server.runs = [row("b")];
    server.snapshot = "5:5:";
    await runs.catchUp();
    expect(runs.count()).toEqual({ running: 1, ended: 0 });
  });
});

describe("a run that is not in memory", () => {
  test("is read, and remembered whether it runs or not", async () => {
    const { runs, server, asked } = setUp();
    await runs.catchUp();
    server.runs = [row("new"), row("old", "finished")];
    asked.length = 0;
    for (let i = 0; i < 3; i += 1) {
      expect(await runs.find("org", "new")).toMatchObject({ status: "running" });
      expect(await runs.find("org", "old")).toMatchObject({ status: "finished" });
    }
    expect(asked).toEqual(["run new", "run old"]);
  });

  test("and does not exist is looked up each time, once for simultaneous callers", async () => {
    const { runs, asked } = setUp();
    await runs.catchUp();
    asked.length = 0;
    const answers = await Promise.all(["org", "org", "two"].map(async (org) => runs.find(org, "none")));
    expect(answers).toEqual([undefined, undefined, undefined]);
    await runs.find("org", "none");
    expect(asked).toEqual(["run none", "run none", "run none"]);
  });

  test("and cannot be read is an error, not an absence", async () => {
    const { runs } = setUp({ run: () => Promise.reject(new Error("gone")) });
    await runs.catchUp();
    await expect(runs.find("org", "a")).rejects.toThrow("gone");
    await expect(runs.find("org", "a")).rejects.toThrow("gone");
  });

  test.each([
    ["it ran and has ended", "running", "finished"],
    ["it had ended and runs again", "finished", "running"],
  ] as const)("an answer does not undo what a page brought meanwhile: %s", async (_what, before, after) => {
    let answer = (_row: RunControlRow | undefined): void => {};
    const { runs, server } = setUp({
      run: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    await runs.catchUp();
    const found = runs.find("org", "a");
    server.changes = [{ row: row("a", after), xid: 11 }];
    await runs.catchUp();
    answer(row("a", before));
    expect(await found).toMatchObject({ status: after });
    expect(await runs.find("org", "a")).toMatchObject({ status: after });
  });

  test("an answer that saw no run does not hide what a page brought meanwhile", async () => {
    let answer = (_row: RunControlRow | undefined): void => {};
    const { runs, server } = setUp({
      run: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    await runs.catchUp();
    const found = runs.find("org", "a");
    server.changes = [{ row: row("a", "failed"), xid: 11 }];
    await runs.catchUp();
    answer(undefined);
    expect(await found).toMatchObject({ status: "failed" });
  });
});

describe("memory that is too old", () => {
  const refusal = async (call: unknown): Promise<unknown> => {
    try {
      return await call;
    } catch (error) {
      return isAppError(error) ? [error.reason, error.retryAfterSeconds] : error;
    }
  };

  test("is refreshed before it answers, once for all who ask", async () => {
    const { runs, server, clock, asked } = setUp();
    server.runs = [row("a")];
    await runs.catchUp();
    clock.ms = 8001;
    server.changes = [{ row: row("a", "failed"), xid: 11 }];
    asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, async () => runs.find("org", "a")));
    expect(new Set(answers.map((run) => run?.status))).toEqual(new Set(["failed"]));
    expect(asked).toHaveLength(1);
  });

  test("is not used when it cannot be refreshed, and is used again when it was", async () => {
    let down = false;
    const { runs, server, clock } = setUp({
      changedPage: async () => {
        if (down) throw new Error("gone");
        return { snapshot: "10:10:", rows: [], last: undefined };
      },
    });
    server.runs = [row("a")];
    await runs.catchUp();
    down = true;
    clock.ms = 8000;
    expect(await runs.find("org", "a")).toMatchObject({ status: "running" });
    clock.ms = 8001;
    expect(await refusal(runs.find("org", "a"))).toEqual(["warehouse_unavailable", 1]);
    expect(await refusal(runs.find("org", "unknown"))).toEqual(["warehouse_unavailable", 1]);
    down = false;
    expect(await runs.find("org", "a")).toMatchObject({ status: "running" });
  });

  test("whose refresh hangs is not waited for forever", async () => {
    const { runs, server, clock } = setUp({ changedPage: () => new Promise(() => {}) });
    running.splice(0);
    server.runs = [row("a")];
    await runs.catchUp();
    clock.ms = 9000;
    expect(await refusal(runs.find("org", "a"))).toEqual(["warehouse_unavailable", 1]);
  });

  test("after a change that it could not catch up with, it is not used, however recent", async () => {
    let down = false;
    const { runs, server, clock } = setUp({
      changedPage: async () => {
        if (down) throw new Error("gone");
        return { snapshot: "10:10:", rows: [row("a", "failed")], last: undefined };
      },
    });
    server.runs = [row("a")];
    await runs.catchUp();
    down = true;
    clock.ms = 1;
    await runs.catchUp();
    expect(await refusal(runs.find("org", "a"))).toEqual(["warehouse_unavailable", 1]);
    down = false;
    expect(await runs.find("org", "a")).toMatchObject({ status: "failed" });
  });
});
