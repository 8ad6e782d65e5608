import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

type Line = { line_number: number; message: string; timestamp: string | null };

describeModes("console logs", (stack) => {
  const freshRun = async (): Promise<{ api: Api; path: string }> => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    return { api, path: `/api/runs/${id}/logs` };
  };
  const lines = (from: number, count: number, text = "line"): { line_number: number; message: string }[] =>
    Array.from({ length: count }, (_, index) => ({ line_number: from + index, message: `${text} ${from + index}` }));

  test("lines are returned in order, a stream at a time, with both times", async () => {
    const { api, path } = await freshRun();
    const sent = [
      { line_number: 2, message: "two", timestamp: "2026-03-01T12:00:00.5+02:00" },
      { line_number: 1, message: "\u001b[31mone\u001b[0m", timestamp: null },
    ];
    expect((await api.post(path, { lines: sent })).json).toEqual({ inserted: 2 });
    await api.post(path, { stream: "stderr", lines: [{ line_number: 1, message: "" }] });
    const out = (await api.get(path)).json;
    expect(out).toMatchObject({ next_cursor: null, limit: 250, truncated: false });
    expect(out.lines).toMatchObject([
      { stream: "stdout", line_number: 1, message: "\u001b[31mone\u001b[0m" },
      { stream: "stdout", line_number: 2, message: "two", timestamp: "2026-03-01T10:00:00.5Z" },
    ]);
    expect(out.lines[0].run_id).toBe(path.split("/")[3]);
    expect(out.lines[0].created_at).toMatch(/Z$/);
    expect((await api.get(`${path}?stream=stderr`)).json.lines).toMatchObject([{ stream: "stderr", message: "" }]);
  });

  test("a process that starts again at line 1 adds lines; all are kept in order of arrival", async () => {
    const { api, path } = await freshRun();
    await api.post(path, { lines: lines(1, 2, "first") });
    await api.post(path, { lines: lines(1, 2, "second") });
    const read: Line[] = (await api.get(path)).json.lines;
    expect(read.map(({ message }) => message)).toEqual(["first 1", "second 1", "first 2", "second 2"]);
  });

  test("pages by cursor neither repeat nor skip, also among equal line numbers", async () => {
    const { api, path } = await freshRun();
    for (let round = 0; round < 3; round += 1) {
      await api.post(path, { lines: lines(1, 50, `r${round}`) });
    }
    const read: Line[] = [];
    let cursor = "";
    for (let pages = 0; pages < 30; pages += 1) {
      const page = (await api.get(`${path}?limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`)).json;
      read.push(...page.lines);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(read).toHaveLength(150);
    expect(read.map(({ message }) => message)).toEqual(
      Array.from({ length: 50 }, (_, index) => [0, 1, 2].map((round) => `r${round} ${index + 1}`)).flat(),
    );
  });

  test("a page that is exactly full has a cursor, the one after it may be empty", async () => {
    const { api, path } = await freshRun();
    await api.post(path, { lines: lines(1, 4) });
    const full = (await api.get(`${path}?limit=4`)).json;
    expect(full.next_cursor).toEqual(expect.any(String));
    expect((await api.get(`${path}?limit=4&cursor=${full.next_cursor}`)).json).toMatchObject({
      lines: [],
      next_cursor: null,
    });
  });

  test("tail gives the last lines ascending and ignores limit", async () => {
    const { api, path } = await freshRun();
    await api.post(path, { lines: lines(1, 50) });
    const tail = (await api.get(`${path}?tail=3&limit=1`)).json;
    expect(tail.lines.map(({ line_number }: Line) => line_number)).toEqual([48, 49, 50]);
    expect(tail.next_cursor).toBeNull();
  });

  test("q filters without regard to ASCII case, as text and not as a pattern", async () => {
    const { api, path } = await freshRun();
    await api.post(path, {
      lines: [
        { line_number: 1, message: "100% LOSS_a" },
        { line_number: 2, message: "100x loss-a" },
      ],
    });
    const found = (await api.get(`${path}?q=${encodeURIComponent("% loss_")}`)).json;
    expect(found.lines.map(({ line_number }: Line) => line_number)).toEqual([1]);
    expect(found.truncated).toBe(false);
  });

  test("q scans a bounded number of lines and says where to continue", async () => {
    const { api, path } = await freshRun();
    for (let batch = 0; batch < 3; batch += 1) {
      await api.post(path, { lines: lines(batch * 50 + 1, 50) });
    }
    await api.post(path, { lines: [{ line_number: 151, message: "needle" }] });
    const first = (await api.get(`${path}?q=needle&limit=2`)).json;
    expect(first).toMatchObject({ lines: [], truncated: true, next_cursor: expect.any(String) });
    let { next_cursor: cursor } = first;
    let found: Line[] = [];
    while (found.length === 0 && cursor !== null) {
      const page = (await api.get(`${path}?q=needle&limit=2&cursor=${cursor}`)).json;
      found = page.lines;
      cursor = page.next_cursor;
    }
    expect(found).toMatchObject([{ message: "needle" }]);
  });

  test("NUL and unpaired surrogates in a message become U+FFFD", async () => {
    const { api, path } = await freshRun();
    const rawBody = String.raw`{"lines":[{"line_number":1,"message":"a\u0000b\ud800c"}]}`;
    expect((await api.call("POST", path, { rawBody })).status).toBe(200);
    expect((await api.get(path)).json.lines[0].message).toBe("a\ufffdb\ufffdc");
  });

  test("a replayed key inserts once; another body under it is 400, as logs list no 409", async () => {
    const { api, path } = await freshRun();
    const options = { headers: { "idempotency-key": "log-1" } };
    await api.post(path, { lines: lines(1, 2) }, options);
    const replay = await api.post(path, { lines: lines(1, 2) }, options);
    expect(replay).toMatchObject({ status: 200, json: { inserted: 2 }, headers: { "idempotency-replayed": "true" } });
    expect(await api.post(path, { lines: lines(1, 3) }, options)).toMatchObject({
      status: 400,
      json: { code: "idempotency_key_reused" },
    });
    expect((await api.get(path)).json.lines).toHaveLength(2);
  });

  test.each([
    ["no lines", {}],
    ["an empty list", { lines: [] }],
    ["51 lines", { lines: Array.from({ length: 51 }, (_, i) => ({ line_number: i, message: "x" })) }],
    ["an unknown stream", { stream: "stdlog", lines: [{ line_number: 1, message: "x" }] }],
    ["no line number", { lines: [{ message: "x" }] }],
    ["a negative line number", { lines: [{ line_number: -1, message: "x" }] }],
    ["a fractional line number", { lines: [{ line_number: 1.5, message: "x" }] }],
    ["no message", { lines: [{ line_number: 1 }] }],
    ["a message that is a number", { lines: [{ line_number: 1, message: 5 }] }],
    ["a message of 16,385 bytes", { lines: [{ line_number: 1, message: "x".repeat(16_385) }] }],
    ["a bad timestamp", { lines: [{ line_number: 1, message: "x", timestamp: "yesterday" }] }],
  ])("POST with %s is 400 and stores nothing; a missing run is 404 first", async (_what, body) => {
    const { api, path } = await freshRun();
    expect(await api.post(path, body)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    expect((await api.get(path)).json.lines).toEqual([]);
    expect((await api.post(`/api/runs/${randomUUID()}/logs`, body)).status).toBe(404);
  });

  test("a message of exactly 16,384 bytes is taken", async () => {
    const { api, path } = await freshRun();
    expect((await api.post(path, { lines: [{ line_number: 0, message: "é".repeat(8192) }] })).status).toBe(200);
  });

  test.each([
    "limit=0",
    "limit=1001",
    "tail=0",
    "tail=501",
    "tail=x",
    "tail=5&q=a",
    "tail=5&cursor=e30",
    "stream=both",
    "cursor=!!!",
    "cursor=e30",
    `cursor=${"a".repeat(257)}`,
    `q=${"a".repeat(513)}`,
  ])("GET with %s is 400", async (query) => {
    const { api, path } = await freshRun();
    expect((await api.get(`${path}?${query}`)).status).toBe(400);
  });

  test("logs of a run that is not there are 404", async () => {
    const { api } = await freshRun();
    expect((await api.get(`/api/runs/${randomUUID()}/logs`)).status).toBe(404);
    expect((await api.get("/api/runs/nonsense/logs")).status).toBe(404);
  });
});
