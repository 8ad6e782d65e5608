import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { quick } from "../stack/settings.ts";
import { queryDatabase } from "../stack/attach.ts";

// One file, because all cases share a stack in each mode.

describeModes(
  "metrics",
  (stack) => {
    const freshRun = async (): Promise<{ api: Api; id: string }> => {
      const { api } = await stack().organization();
      return { api, id: (await api.post("/runs", {})).json.run.id };
    };
    const points = async (api: Api, id: string, query = ""): Promise<{ key: string; step: number; value: number }[]> =>
      (await api.get(`/runs/${id}/metrics?${query}`)).json.metrics;

    test("a written step is read back immediately, in order, with both times", async () => {
      const { api, id } = await freshRun();
      const body = {
        metrics: { "train/loss": 0.5, acc: -1e-320 },
        step: 1.5,
        timestamp: "2026-03-01T12:00:00.123456+02:00",
        preview: false,
        preview_completion: 0.0,
      };
      expect(await api.post(`/runs/${id}/metrics`, body)).toMatchObject({ status: 200, json: { inserted: 2 } });
      await api.post(`/runs/${id}/metrics`, { metrics: { acc: 7 }, step: 0, timestamp: null });
      const answer = await api.get(`/runs/${id}/metrics`);
      expect(answer.json).toMatchObject({ limit: 1000, truncated: false });
      expect(answer.json.metrics).toMatchObject([
        { key: "acc", step: 0, value: 7 },
        { key: "acc", step: 1.5, value: -1e-320, timestamp: "2026-03-01T10:00:00.123456Z" },
        { key: "train/loss", step: 1.5, value: 0.5 },
      ]);
      expect(answer.json.metrics[0]).not.toHaveProperty("timestamp");
      expect(answer.json.metrics[0].created_at).toMatch(/^20\d\d-.*Z$/);
    });

    test("the same key and step twice are two points, the later arrival being the latest", async () => {
      const { api, id } = await freshRun();
      await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 5 });
      await api.post(`/runs/${id}/metrics`, { metrics: { a: 2 }, step: 5 });
      await api.post(`/runs/${id}/metrics`, { metrics: { a: 3 }, step: 4 });
      expect((await points(api, id)).map(({ step, value }) => [step, value])).toEqual([
        [4, 3],
        [5, 1],
        [5, 2],
      ]);
      expect((await api.get(`/runs/${id}`)).json.run.metric_aggregates.a).toMatchObject({
        latest: 2,
        count: 3,
        min: 1,
        max: 3,
      });
    });

    test("a batch of 500 points x 2 keys is visible in the next read", async () => {
      const { api, id } = await freshRun();
      const batch = Array.from({ length: 500 }, (_, step) => ({ metrics: { a: step, b: -step }, step }));
      expect((await api.post(`/runs/${id}/metrics/batch`, { points: batch })).json).toEqual({ inserted: 1000 });
      const read = await points(api, id, "limit=5000");
      expect(read).toHaveLength(1000);
      expect(read[499]).toMatchObject({ key: "a", step: 499, value: 499 });
      expect(read[999]).toMatchObject({ key: "b", step: 499, value: -499 });
    });

    test("one key sent 30 times simultaneously inserts once, and every sender gets the same answer", async () => {
      const { api, id } = await freshRun();
      const send = () =>
        api.post(
          `/runs/${id}/metrics/batch`,
          { points: [{ metrics: { a: 1, b: 2 }, step: 0 }] },
          { headers: { "idempotency-key": "k1" } },
        );
      const answers = await Promise.all(Array.from({ length: 30 }, send));
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
      expect(answers.map(({ json }) => json)).toEqual(Array(30).fill({ inserted: 2 }));
      expect(answers.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(29);
      expect(await points(api, id)).toHaveLength(2);
    });

    test("a key with another body, on another route or for another run is 409 and changes nothing", async () => {
      const { api, id } = await freshRun();
      const other = (await api.post("/runs", {})).json.run.id as string;
      const headers = { "idempotency-key": "once" };
      const body = { metrics: { a: 1 }, step: 0 };
      await api.post(`/runs/${id}/metrics`, body, { headers });
      for (const [path, changed] of [
        [`/runs/${id}/metrics`, { metrics: { a: 2 }, step: 0 }],
        [`/runs/${other}/metrics`, body],
        [`/runs/${id}/metrics/batch`, { points: [body] }],
      ] as const) {
        const answer = await api.post(path, changed, { headers });
        expect(answer).toMatchObject({
          status: 409,
          json: { code: "idempotency_key_reused", error: expect.stringContaining("idempotency key") },
        });
      }
      expect(await points(api, id)).toHaveLength(1);
      expect(await points(api, other)).toHaveLength(0);
      // Another order of keys or other white space does not make another body.
      const again = await api.call("POST", `/runs/${id}/metrics`, {
        rawBody: '{ "step": 0, "metrics": {"a": 1} }',
        headers,
      });
      expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
    });

    test.each([
      ["no metrics", { step: 0 }],
      ["empty metrics", { metrics: {}, step: 0 }],
      ["metrics as a list", { metrics: [1], step: 0 }],
      ["a text value", { metrics: { a: "1" }, step: 0 }],
      ["a null value", { metrics: { a: 1, b: null }, step: 0 }],
      ["a boolean value", { metrics: { a: true }, step: 0 }],
      ["no step", { metrics: { a: 1 } }],
      ["a null step", { metrics: { a: 1 }, step: null }],
      ["a text step", { metrics: { a: 1 }, step: "1" }],
      ["a negative step", { metrics: { a: 1 }, step: -1 }],
      ["a blank key", { metrics: { "  ": 1 }, step: 0 }],
      ["a key of 513 bytes", { metrics: { ["k".repeat(513)]: 1 }, step: 0 }],
      ["a key with NUL", { metrics: { "a\u0000": 1 }, step: 0 }],
      ["1,001 keys", { metrics: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`k${i}`, i])), step: 0 }],
      ["a timestamp without a zone", { metrics: { a: 1 }, step: 0, timestamp: "2026-01-01T00:00:00" }],
      ["a timestamp that is a number", { metrics: { a: 1 }, step: 0, timestamp: 1 }],
    ])("%s is 400 on both routes and nothing is stored; a missing run is 404 first", async (_what, point) => {
      const { api, id } = await freshRun();
      const single = await api.post(`/runs/${id}/metrics`, point);
      expect(single).toMatchObject({ status: 400, json: { error: expect.any(String) } });
      const good = { metrics: { fine: 1 }, step: 0 };
      expect((await api.post(`/runs/${id}/metrics/batch`, { points: [good, point] })).status).toBe(400);
      expect(await points(api, id)).toEqual([]);
      expect((await api.post(`/runs/${randomUUID()}/metrics`, point)).status).toBe(404);
      expect((await api.post(`/runs/${randomUUID()}/metrics/batch`, { points: [point] })).status).toBe(404);
    });

    test.each([
      ["no points", {}],
      ["an empty list", { points: [] }],
      ["501 points", { points: Array.from({ length: 501 }, (_, step) => ({ metrics: { a: 1 }, step })) }],
      ["a point that is a number", { points: [1] }],
      ["points as an object", { points: { metrics: { a: 1 }, step: 0 } }],
    ])("a batch with %s is 400", async (_what, body) => {
      const { api, id } = await freshRun();
      expect((await api.post(`/runs/${id}/metrics/batch`, body)).status).toBe(400);
    });

    test.each(["nan", "+Infinity", "1e400"])("a value of %s is 400", async (value) => {
      const { api, id } = await freshRun();
      expect(
        (await api.call("POST", `/runs/${id}/metrics`, { rawBody: `{"metrics":{"a":${value}},"step":0}` })).status,
      ).toBe(400);
    });

    test("1,000 keys in one object are accepted, and keys equal after trimming count once", async () => {
      const { api, id } = await freshRun();
      const metrics = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
      expect((await api.post(`/runs/${id}/metrics`, { metrics, step: 0 })).json).toEqual({ inserted: 1000 });
      await api.post(`/runs/${id}/metrics`, { metrics: { "z ": 1, z: 2 }, step: 0 });
      expect(await points(api, id, "key=z")).toMatchObject([{ key: "z", value: 2 }]);
    });

    test("finished runs stay writable", async () => {
      const { api, id } = await freshRun();
      await api.patch(`/runs/${id}`, { status: "finished" });
      expect((await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 })).status).toBe(200);
    });

    test("gzip bodies are taken; what claims to be gzip and is not is 400; a bomb is 413", async () => {
      const { api, id } = await freshRun();
      const headers = { "content-encoding": "gzip" };
      const body = JSON.stringify({ metrics: { a: 1 }, step: 0 });
      expect((await api.call("POST", `/runs/${id}/metrics`, { rawBody: gzipSync(body), headers })).status).toBe(200);
      expect((await api.call("POST", `/runs/${id}/metrics`, { rawBody: body, headers })).status).toBe(400);
      const bomb = gzipSync(`{"pad":"${"x".repeat(5 * 1024 * 1024)}","metrics":{"a":1},"step":0}`);
      expect((await api.call("POST", `/runs/${id}/metrics`, { rawBody: bomb, headers })).status).toBe(413);
      expect(await points(api, id)).toHaveLength(1);
    });

    test("a body above 4 MiB is 413, one just below is taken", async () => {
      const { api, id } = await freshRun();
      const pad = (size: number) => `{"metrics":{"a":1},"step":0,"pad":"${"x".repeat(size)}"}`;
      expect((await api.call("POST", `/runs/${id}/metrics`, { rawBody: pad(4 * 1024 * 1024) })).status).toBe(413);
      expect((await api.call("POST", `/runs/${id}/metrics`, { rawBody: pad(4 * 1024 * 1024 - 100) })).status).toBe(200);
    });

    test("GET applies key, step range and limit over all keys together", async () => {
      const { api, id } = await freshRun();
      await api.post(`/runs/${id}/metrics/batch`, {
        points: [0, 1, 2, 3].map((step) => ({ metrics: { a: step, b: step * 10 }, step })),
      });
      expect(await points(api, id, "key=b&start_step=1&end_step=2")).toMatchObject([{ value: 10 }, { value: 20 }]);
      expect(await points(api, id, "key=unknown")).toEqual([]);
      const cut = (await api.get(`/runs/${id}/metrics?limit=5`)).json;
      expect(cut).toMatchObject({ limit: 5, truncated: true });
      expect(cut.metrics.map(({ key }: { key: string }) => key)).toEqual(["a", "a", "a", "a", "b"]);
    });

    test.each([
      "limit=0",
      "limit=5001",
      "start_step=-1",
      "start_step=x",
      "end_step=Infinity",
      "start_step=2&end_step=1",
      "key=a&key=b",
    ])("GET with %s is 400", async (query) => {
      const { api, id } = await freshRun();
      expect((await api.get(`/runs/${id}/metrics?${query}`)).status).toBe(400);
    });

    test("a missing run takes precedence over a bad query", async () => {
      const { api } = await freshRun();
      const id = randomUUID();
      for (const path of [`/runs/${id}/metrics`, `/api/runs/${id}/logs`, `/api/runs/${id}/attributes`]) {
        expect(await api.get(`${path}?limit=0`)).toMatchObject({ status: 404, json: { error: "run not found" } });
      }
    });

    test("the last microsecond of the calendar is still a time", async () => {
      const { api, id } = await freshRun();
      await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0, timestamp: "9999-12-31T23:59:59.999999Z" });
      expect((await api.get(`/runs/${id}/metrics`)).json.metrics[0].timestamp).toMatch(
        /^9999-12-31T23:59:59\.9999\d+Z$/,
      );
    });

    test("series are in the requested order, an entry each, once per repeated id", async () => {
      const { api, id } = await freshRun();
      const empty = (await api.post("/runs", {})).json.run.id as string;
      await api.post(`/runs/${id}/metrics/batch`, {
        points: [0, 1, 2].map((step) => ({ metrics: { loss: 1 / (step + 1) }, step })),
      });
      const answer = await api.post("/api/metrics/series", { key: "loss", run_ids: [empty, id, id] });
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        requested_limit: 1000,
        effective_limit: 1000,
        requested_buckets: null,
        effective_buckets: null,
        run_count: 3,
        total_point_cap: 120000,
      });
      expect(
        answer.json.series.map((entry: { run_id: string; metrics: unknown[] }) => [entry.run_id, entry.metrics.length]),
      ).toEqual([
        [empty, 0],
        [id, 3],
        [id, 0],
      ]);
      expect(answer.json.series[1].metrics[2]).toMatchObject({ key: "loss", step: 2, value: 1 / 3 });
    });

    test("series clamp a large limit, and the budget of 120,000 points is shared by the runs requested", async () => {
      const { api, id } = await freshRun();
      await api.post(`/runs/${id}/metrics/batch`, {
        points: Array.from({ length: 500 }, (_, step) => ({ metrics: { a: step }, step })),
      });
      expect((await api.post("/api/metrics/series", { key: "a", run_ids: [id], limit: 10000 })).json).toMatchObject({
        requested_limit: 10000,
        effective_limit: 5000,
      });
      const many = await api.post("/api/metrics/series", { key: "a", run_ids: Array(2000).fill(id) });
      expect(many.json).toMatchObject({ run_count: 2000, effective_limit: 60 });
      expect(many.json.series[0]).toMatchObject({ truncated: true });
      expect(many.json.series[0].metrics).toHaveLength(60);
    });

    test("series with buckets sample by first, last, minimum and maximum of each bucket", async () => {
      const { api, id } = await freshRun();
      await api.post(`/runs/${id}/metrics/batch`, {
        points: Array.from({ length: 400 }, (_, step) => ({
          metrics: { a: step === 150 ? 99 : Math.sin(step) },
          step,
        })),
      });
      const sampled = (await api.post("/api/metrics/series", { key: "a", run_ids: [id], buckets: 10 })).json;
      expect(sampled).toMatchObject({ requested_buckets: 10, effective_buckets: 10 });
      const { metrics } = sampled.series[0];
      expect(sampled.series[0].sampled).toBe(true);
      expect(metrics.length).toBeLessThanOrEqual(40);
      expect(metrics[0].step).toBe(0);
      expect(metrics.at(-1).step).toBe(399);
      expect(metrics).toContainEqual(
        expect.objectContaining({ step: 150, value: 99, created_at: "1970-01-01T00:00:00Z" }),
      );
      const whole = (await api.post("/api/metrics/series", { key: "a", run_ids: [id], buckets: 100 })).json;
      expect(whole.series[0].metrics).toHaveLength(400);
    });

    test.each([
      ["no key", { run_ids: [randomUUID()] }],
      ["no runs", { key: "a" }],
      ["an empty list of runs", { key: "a", run_ids: [] }],
      ["a run id that is not a UUID", { key: "a", run_ids: ["x"] }],
      ["2,001 runs", { key: "a", run_ids: Array.from({ length: 2001 }, () => randomUUID()) }],
      ["a limit of 0", { key: "a", run_ids: [randomUUID()], limit: 0 }],
      ["buckets of 4,097", { key: "a", run_ids: [randomUUID()], buckets: 4097 }],
      ["buckets of 0", { key: "a", run_ids: [randomUUID()], buckets: 0 }],
      ["a range turned round", { key: "a", run_ids: [randomUUID()], start_step: 2, end_step: 1 }],
    ])("series with %s is 400", async (_what, body) => {
      const { api } = await freshRun();
      expect((await api.post("/api/metrics/series", body)).status).toBe(400);
    });

    test("series with one run that cannot be seen is 404 for the whole call", async () => {
      const { api, id } = await freshRun();
      const foreign = await freshRun();
      expect((await api.post("/api/metrics/series", { key: "a", run_ids: [id, foreign.id] })).status).toBe(404);
    });

    test("an answer that the client has is not sent again until the run gets points", async () => {
      const { api, id } = await freshRun();
      const path = `/runs/${id}/metrics?key=a&limit=10`;
      const ask = (tag: unknown, method = "GET") =>
        api.call(method, path, { headers: { "if-none-match": String(tag) } });
      await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 });
      const first = await api.get(path);
      const { etag } = first.headers;
      expect(first.headers).toMatchObject({
        etag: expect.stringMatching(/^W\/"[\w-]+"$/),
        "cache-control": "private, no-cache",
      });
      for (const known of [etag, String(etag).slice(2), `"other", ${String(etag)}`, "*"]) {
        for (const method of ["GET", "HEAD"]) {
          const same = await ask(known, method);
          expect(same).toMatchObject({ status: 304, text: "" });
          expect(same.headers).toMatchObject({ etag, "cache-control": "private, no-cache" });
          expect(same.headers).not.toHaveProperty("content-type");
        }
      }
      expect((await api.call("HEAD", path)).headers).toMatchObject({ etag });
      expect(await ask('"other"')).toMatchObject({ status: 200, headers: { etag } });
      // Another question about the same points has another answer.
      expect((await api.get(`/runs/${id}/metrics?key=a`)).headers["etag"]).not.toBe(etag);
      await api.post(`/runs/${id}/metrics`, { metrics: { b: 1 }, step: 0 });
      const later = await ask(etag);
      expect(later).toMatchObject({ status: 200, json: { metrics: [{ key: "a", step: 0, value: 1 }] } });
      expect(later.headers["etag"]).not.toBe(etag);
      expect((await ask(later.headers["etag"])).status).toBe(304);
    });

    test("series that the client has are not sent again until one of the runs gets points", async () => {
      const { api, id } = await freshRun();
      const other = (await api.post("/runs", {})).json.run.id as string;
      const body = { key: "a", run_ids: [id, other], buckets: 10 };
      const ask = (tag: unknown, asked: object = body) =>
        api.post("/api/metrics/series", asked, { headers: { "if-none-match": String(tag) } });
      const first = await api.post("/api/metrics/series", body);
      const { etag } = first.headers;
      expect(first.headers).toMatchObject({ etag: expect.stringMatching(/^W\/"[\w-]+"$/) });
      expect(await ask(etag)).toMatchObject({ status: 304, text: "", headers: { etag } });
      expect((await ask("*")).status).toBe(304);
      for (const changed of [
        { key: "b" },
        { run_ids: [other, id] },
        { buckets: 11 },
        { start_step: 0 },
        { limit: 5 },
      ]) {
        expect((await ask(etag, { ...body, ...changed })).status).toBe(200);
      }
      await api.post(`/runs/${other}/metrics`, { metrics: { a: 1 }, step: 0 });
      const later = await ask(etag);
      expect(later.status).toBe(200);
      expect(later.json.series[1].metrics).toMatchObject([{ step: 0, value: 1 }]);
    });

    test("credentials, a run that the client may not see, and faults go before what it has", async () => {
      const { api, id } = await freshRun();
      const foreign = await freshRun();
      const headers = { "if-none-match": "*" };
      const series = { key: "a", run_ids: [id] };
      expect((await api.get(`/runs/${foreign.id}/metrics`, { headers })).status).toBe(404);
      expect((await api.get(`/runs/${randomUUID()}/metrics?limit=0`, { headers })).status).toBe(404);
      expect((await api.get(`/runs/${id}/metrics?limit=0`, { headers })).status).toBe(400);
      expect((await api.as(null).get(`/runs/${id}/metrics`, { headers })).status).toBe(401);
      expect(
        (await api.post("/api/metrics/series", { ...series, run_ids: [id, foreign.id] }, { headers })).status,
      ).toBe(404);
      expect((await api.post("/api/metrics/series", { ...series, limit: 0 }, { headers })).status).toBe(400);
      expect((await api.as(null).post("/api/metrics/series", series, { headers })).status).toBe(401);
    });

    test("points are read alike before and after they are compacted, under one tag", async () => {
      const { api, id } = await freshRun();
      for (let batch = 0; batch < 4; batch++) {
        const points = Array.from({ length: 500 }, (_, i) => ({
          step: batch * 400 + i,
          metrics: { a: Math.sin(i * batch), [`only/${batch}`]: i },
          ...(i % 3 === 0 ? { timestamp: `2026-01-01T00:00:00.${String(i).padStart(6, "0")}Z` } : {}),
        }));
        await api.post(`/runs/${id}/metrics/batch`, { points });
      }
      const reads = () =>
        Promise.all([
          api.get(`/runs/${id}/metrics?limit=5000`),
          api.get(`/runs/${id}/metrics?key=a&start_step=390&end_step=900&limit=700`),
          api.post("/api/metrics/series", { key: "a", run_ids: [id], buckets: 20 }),
          api.post("/api/metrics/series", { key: "a", run_ids: [id], limit: 5000 }),
        ]);
      const before = await reads();
      await until("compaction", async () => {
        const [found] = await queryDatabase<{ waiting: number }>(
          stack(),
          "SELECT count(*)::integer AS waiting FROM ingest.metric_segments WHERE run_id = $1",
          [id],
        );
        return found!.waiting === 0;
      });
      const after = await reads();
      expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text));
      expect(after.map(({ headers }) => headers["etag"])).toEqual(before.map(({ headers }) => headers["etag"]));
      expect(before[0].json).toMatchObject({ truncated: false });
      expect(before[0].json.metrics).toHaveLength(4000);
    });

    test.each([
      ["a key of 256 bytes", "k".repeat(256)],
      ["a key with a space inside", "a b"],
      ["a key that is not ASCII", "clé"],
    ])("an Idempotency-Key that is %s is 400", async (_what, key) => {
      const { api, id } = await freshRun();
      const answer = await api.post(
        `/runs/${id}/metrics`,
        { metrics: { a: 1 }, step: 0 },
        { headers: { "idempotency-key": Buffer.from(key).toString("latin1") } },
      );
      expect(answer.status).toBe(400);
    });
  },
  quick,
);
