import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeOwnModes } from "../stack/modes.ts";

const examples = join(import.meta.dirname, "../examples");
const environment = await requirePython({
  requirements: join(examples, "otlp-requirements.txt"),
  leftOut: "spans of the OpenTelemetry SDK for Python",
});

type Exported = { traces: string[]; exported: string[]; failed: string[] };

describeWith(environment)("the OpenTelemetry SDK for Python", () => {
  describeOwnModes("exports spans", (stack) => {
    const begin = async () => {
      const { api, key } = await stack().organization({ plan: "pro" });
      const { id } = (await api.post("/runs", { project: "agents" })).json.run;
      const settings = {
        RUN_ID: id as string,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${stack().baseUrl}/v1/traces`,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: `authorization=Bearer%20${key}`,
      };
      return { api, id: id as string, settings };
    };
    const spansOf = async (api: Api, id: string, traces: readonly string[]) => {
      const found = new Set<string>();
      for (const trace of traces) {
        const { status, json } = await api.get(`/api/runs/${id}/traces/${trace}`);
        if (status !== 200) continue;
        for (const root of json.spans) {
          found.add(root.span_id);
          const children = await api.get(`/api/runs/${id}/traces/${trace}/spans?parent_span_id=${root.span_id}`);
          for (const child of children.json.spans) found.add(child.span_id);
        }
      }
      return found;
    };
    const run = (settings: Record<string, string>, seconds: number, started?: () => void) =>
      runExample(
        environment!.python,
        [join(examples, "export_spans.py"), "--seconds", `${seconds}`],
        settings,
        started,
      );

    test("with kinds, tokens and errors, and without contents", async () => {
      const { api, id, settings } = await begin();
      const { code, stderr, report } = await run(settings, 0);
      expect([code, stderr]).toEqual([0, ""]);
      const { traces, failed } = report as unknown as Exported;
      expect(failed).toEqual([]);
      expect((await api.get(`/api/traces?run_id=${id}`)).json.traces).toMatchObject([
        {
          trace_id: traces[0],
          root_name: "episode",
          status: "error",
          kinds: expect.arrayContaining(["rollout", "model", "tool"]),
          span_count: 3,
          error_count: 1,
          model_call_count: 1,
          tool_call_count: 1,
          input_tokens: 12,
          output_tokens: 5,
          min_step: 0,
          content_available: false,
        },
      ]);
      const { spans } = (await api.get(`/api/runs/${id}/traces/${traces[0]!}`)).json;
      const path = `/api/runs/${id}/traces/${traces[0]!}/spans?parent_span_id=${spans[0].span_id}`;
      const children = (await api.get(path)).json.spans;
      expect(children).toMatchObject([
        { name: "chat small", kind: "model", status: "ok" },
        { name: "search", kind: "tool", status: "error", error_type: "ValueError" },
      ]);
      expect(JSON.stringify(children)).not.toContain("secret");
    });

    test("and loses none that it was told is stored, when the server restarts meanwhile", async () => {
      const { api, id, settings } = await begin();
      const restarted: Promise<void>[] = [];
      const restart = async (): Promise<void> => {
        for (let i = 0; i < 2; i += 1) {
          await new Promise((resolve) => setTimeout(resolve, 1200));
          const modules = stack().mode === "split" ? ["gateway", "traces"] : ["gateway"];
          await Promise.all(modules.map((module) => stack().children.get(module)!.end("SIGKILL")));
          await Promise.all(modules.map((module) => stack().restart(module)));
        }
      };
      const { code, report } = await run(settings, 5, () => restarted.push(restart()));
      await Promise.all(restarted);
      expect(code).toBe(0);
      const { traces, exported, failed } = report as unknown as Exported;
      expect(traces.length).toBeGreaterThan(50);
      expect(exported.length + failed.length).toBe(3 * traces.length);
      expect(exported.length).toBeGreaterThan(0);
      const stored = await spansOf(api, id, traces);
      expect(exported.filter((span) => !stored.has(span))).toEqual([]);
      expect(stored.size).toBeLessThanOrEqual(3 * traces.length);
    });
  });
});
