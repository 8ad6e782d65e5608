import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "rich objects of the instantml SDK",
});

type Logged = { id: number; key: string; kind: string; artifact: { id: string; mime_type: string } | null };
type Name = "table" | "empty" | "image" | "audio" | "video" | "histogram" | "evaluation";
type Report = { run_id: string; objects: Record<Name, Logged> };

describeWith(environment)("the unmodified SDK", () => {
  describeModes("logs rich objects", (stack) => {
    test("tables, media, histograms and evaluations", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const { code, stderr, report } = await runExample(
        environment!.python,
        [join(root, "test/examples/store_objects.py")],
        { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key },
      );
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
      const { run_id: runId, objects: logged } = report as unknown as Report;

      const { objects } = (await api.get(`/api/runs/${runId}/objects`)).json;
      expect(objects.map((object: Logged) => `${object.kind} ${object.key}`)).toEqual([
        "table mixed",
        "classification_eval validation",
        "histogram weights",
        "histogram grads",
        "video eval/clip",
        "audio eval/sound",
        "image eval/frame",
        "table eval/none",
        "table eval/samples",
      ]);
      for (const object of Object.values(logged)) {
        expect(objects.find(({ id }: Logged) => id === object.id)).toEqual(object);
      }
      const rows = await api.get(`/api/objects/${logged.table.id}/rows`);
      expect(rows.text).toContain('"row":{"question":"what?","score":0.5,"seed":12345678901234567890}');
      expect(rows.json.rows[1].row).toEqual({ question: "é", score: null, seed: 2 });
      expect((await api.get(`/api/objects/${logged.empty.id}/rows`)).json.rows).toEqual([]);
      expect(logged.image.artifact).toMatchObject({ mime_type: "image/png" });
      const bytes = await api.get(`/api/artifacts/${logged.image.artifact!.id}/download`);
      expect(bytes).toMatchObject({ status: 200, headers: { "content-type": "image/png" } });
      expect(logged.evaluation).toMatchObject({ value: { sample_count: 4, predictions: [{ id: "first" }] } });

      const explored = (await api.get("/api/objects/explorer?project=objects&kind=text")).json;
      expect(explored.objects).toMatchObject([{ key: "notes", run_name: "rich", preview: { text: "hello" } }]);
    });
  });
});
