import { describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { FREE, smallPlans } from "../stack/settings.ts";
import { startedSpan } from "../stack/started-span.ts";

const { included_storage_bytes: LIMIT } = FREE;
const scopes = ["sdk:ingest", "export:read", "usage:read"];
const exceeded = { status: 402, json: { code: "plan_limit_exceeded", error: expect.stringContaining("storage") } };

type Kinds = Record<string, number>;
const fine = (answer: Answer): Answer => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
};
const utf8 = (text: string): number => Buffer.byteLength(text);
const json = (value: unknown): number => utf8(JSON.stringify(value));

describeModes(
  "storage by kind",
  (stack) => {
    const fresh = async () => {
      const { api } = await stack().organization({ plan: "free", scopes });
      const runId: string = fine(await api.post("/runs", { config: {} })).json.run.id;
      const kindsOf = async (): Promise<Kinds> =>
        fine(await api.get("/api/usage")).json.organizations[0].usage.storage_bytes_by_kind;
      return { api, runId, kindsOf };
    };
    /** Returns by how much each kind grows with a request; kinds that do not are left out. */
    const growthOf = async (kindsOf: () => Promise<Kinds>, send: () => Promise<unknown>): Promise<Kinds> => {
      const before = await kindsOf();
      await send();
      const after = await kindsOf();
      return Object.fromEntries(
        Object.keys(after)
          .filter((kind) => after[kind] !== before[kind])
          .map((kind) => [kind, after[kind]! - before[kind]!]),
      );
    };

    test("counts what was sent, and a repeat once", async () => {
      const { api, runId, kindsOf } = await fresh();
      const text = "naïve 漢字 🚀";
      const attribute = { path: "note/é", type: "config", value: text };
      const attributes = await growthOf(kindsOf, async () =>
        fine(await api.post(`/api/runs/${runId}/attributes`, { attributes: [attribute] })),
      );
      expect(Object.keys(attributes)).toEqual(["attributes"]);
      expect(attributes["attributes"]).toBeGreaterThanOrEqual(utf8("note/é") + json(text));
      expect(attributes["attributes"]).toBeLessThan(utf8("note/é") + json(text) + 40);

      const key = { headers: { "idempotency-key": "lines" } };
      const lines = { lines: [text, ""].map((message, i) => ({ line_number: i + 1, message })) };
      const sendLines = async () => fine(await api.post(`/api/runs/${runId}/logs`, lines, key));
      expect(await growthOf(kindsOf, sendLines)).toEqual({ logs: utf8(text) + 2 * 16 });
      expect(await growthOf(kindsOf, sendLines)).toEqual({});

      const points = { metrics: { loss: 1, é: 2 }, step: 1 };
      const sendPoints = async () => fine(await api.post(`/runs/${runId}/metrics`, points));
      expect(await growthOf(kindsOf, sendPoints)).toEqual({ points: 2 * (16 + 256) });
      expect(await growthOf(kindsOf, sendPoints)).toEqual({ points: 2 * 16 });

      const config = { lr: 0.1, é: text };
      const made = { project: "größe", name: "é", config, tags: ["ä"] };
      expect(await growthOf(kindsOf, async () => fine(await api.post("/runs", made)))).toEqual({
        documents: 512 + utf8("größe") + 1024 + utf8("é") + json(config) + json({}) + utf8("ä"),
      });
      const notes = async () => fine(await api.patch(`/runs/${runId}`, { notes: text }));
      expect(await growthOf(kindsOf, notes)).toEqual({ documents: json({ notes: text }) - 2 });
      expect(await growthOf(kindsOf, notes)).toEqual({});

      const rows = Array.from({ length: 10 }, (_, i) => ({ n: i, text }));
      const table = { key: "t", kind: "table", rows };
      const objects = await growthOf(kindsOf, async () => fine(await api.post(`/api/runs/${runId}/objects`, table)));
      const cells = rows.reduce((sum, row) => sum + json(row.n) + json(row.text) + 2, 0);
      expect(Object.keys(objects)).toEqual(["objects"]);
      expect(objects["objects"]).toBeGreaterThanOrEqual(cells);
      expect(objects["objects"]).toBeLessThan(cells + 200);

      const spans = { events: [{ ...startedSpan(1), attributes: { text: "x".repeat(2000) } }] };
      const sendSpans = () =>
        api.post(`/api/runs/${runId}/traces/events`, spans, { headers: { "idempotency-key": "s" } });
      const traces = await growthOf(kindsOf, async () => fine(await sendSpans()));
      expect(Object.keys(traces)).toEqual(["traces"]);
      expect(traces["traces"]).toBeGreaterThan(2000);
      expect(await growthOf(kindsOf, async () => fine(await sendSpans()))).toEqual({});

      const blocks = [{ kind: "markdown", text }];
      const report = { title: "Größe", blocks };
      let id = "";
      const write = async () => (id = fine(await api.post("/api/reports", report)).json.report.id as string);
      expect(await growthOf(kindsOf, write)).toEqual({ reports: utf8("Größe") + json(blocks) });
      const before = await kindsOf();
      fine(await api.call("DELETE", `/api/reports/${id}`));
      expect(await kindsOf()).toEqual({ ...before, reports: 0 });

      const { usage } = fine(await api.get("/api/usage")).json.organizations[0];
      expect(usage.storage_bytes_for_write_gate).toBe(
        Object.values(usage.storage_bytes_by_kind as Kinds).reduce((sum, bytes) => sum + bytes),
      );
    });

    describe("is refused beyond the plan", () => {
      const large = "x".repeat(60_000);
      type Write = (api: Api, runId: string, i: number) => Promise<Answer>;
      const writes: [string, Write][] = [
        [
          "attributes",
          (api, runId, i) =>
            api.post(`/api/runs/${runId}/attributes`, {
              attributes: [0, 1, 2, 3].map((n) => ({ path: `p${i}/${n}`, type: "config", value: large })),
            }),
        ],
        [
          "logs",
          (api, runId, i) =>
            api.post(`/api/runs/${runId}/logs`, {
              lines: Array.from({ length: 16 }, (_, n) => ({
                line_number: 100 * i + n + 1,
                message: "x".repeat(15_000),
              })),
            }),
        ],
        [
          "objects",
          (api, runId, i) =>
            api.post(`/api/runs/${runId}/objects`, {
              key: `t${i}`,
              kind: "table",
              rows: Array.from({ length: 100 }, () => ({ text: "x".repeat(2400) })),
            }),
        ],
        [
          "traces",
          (api, runId, i) =>
            api.post(
              `/api/runs/${runId}/traces/events`,
              { events: [{ ...startedSpan(i + 1), attributes: { text: "x".repeat(15_000) } }] },
              { headers: { "idempotency-key": `${i}` } },
            ),
        ],
        [
          "reports",
          (api, _runId, i) =>
            api.post("/api/reports", {
              title: `r${i}`,
              blocks: Array.from({ length: 10 }, () => ({ kind: "markdown", text: "x".repeat(15_000) })),
            }),
        ],
      ];

      test.each(writes)("of %s", async (kind, write) => {
        const { api, runId, kindsOf } = await fresh();
        // Fills what a few requests cannot: a plan allows few spans.
        if (kind === "traces") {
          for (let i = 0; i < 4; i += 1) fine(await writes[0]![1](api, runId, i));
        }
        const answers: Answer[] = [];
        for (let i = 0; i < 12 && answers.at(-1)?.status !== 402; i += 1) answers.push(await write(api, runId, i));
        expect(answers.length).toBeGreaterThan(0);
        expect(answers.slice(0, -1).map(({ status }) => status)).toEqual(answers.slice(0, -1).map(() => 200));
        expect(answers.at(-1)).toMatchObject(exceeded);
        const kinds = await kindsOf();
        const total = Object.values(kinds).reduce((sum, bytes) => sum + bytes);
        expect(total).toBeLessThanOrEqual(LIMIT);
        expect(total).toBeGreaterThan(LIMIT / 2);
        expect(kinds[kind]).toBeGreaterThan(0);
        expect((await api.get(`/runs/${runId}`)).status).toBe(200);
      });

      test("of runs, and it shows in the warnings", async () => {
        const { api, runId } = await fresh();
        for (let i = 0; i < 4; i += 1) fine(await writes[0]![1](api, runId, i));
        const config = Object.fromEntries([0, 1, 2].map((n) => [n, large]));
        // Other services have stored it; what runs has read of that may be a quarter of a second old.
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(await api.post("/runs", { config })).toMatchObject(exceeded);
        expect(await api.call("PUT", `/api/runs/${runId}/readme`, { body: { markdown: large } })).toMatchObject(
          exceeded,
        );
        expect((await api.get("/runs")).json.runs).toHaveLength(1);
        const warned = async () => {
          const { warnings } = (await api.get("/api/usage")).json.organizations[0];
          return (warnings as { target: string }[]).some(({ target }) => target === "storage");
        };
        await until("the warning", warned);
        expect(await warned()).toBe(true);
      });
    });
  },
  smallPlans,
);
