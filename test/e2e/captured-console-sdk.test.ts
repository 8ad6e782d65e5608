import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "captured consoles and added tags of the instantml SDK",
});

type Line = { line_number: number; message: string };

async function linesOf(api: Api, runId: string, query: string): Promise<[number, string][]> {
  const lines: [number, string][] = [];
  for (let cursor = ""; ;) {
    const page = (await api.get(`/api/runs/${runId}/logs?limit=50&${query}${cursor}`)).json;
    lines.push(...page.lines.map((line: Line): [number, string] => [line.line_number, line.message]));
    if (page.next_cursor === null) return lines;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describeWith(environment)("a run of the SDK whose console is captured", () => {
  describeModes("is found by what it printed and by its tags", (stack) => {
    test("in the logs, in searches and in groups, also after a complete export was restored", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const { code, stderr, report } = await runExample(
        environment!.python,
        [join(root, "test/examples/capture_console.py")],
        { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key },
      );
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
      const { lines, run_ids: ids } = report as unknown as { lines: number; run_ids: Record<string, string> };

      const check = async (of: Api, runId: string, mode: string) => {
        const printed = Array.from({ length: lines }, (_, i) => [i + 1, `${mode} line ${i} é`]);
        expect(await linesOf(of, runId, "stream=stdout")).toEqual(printed);
        expect(await linesOf(of, runId, "stream=stderr")).toEqual([[1, "a warning"]]);
        expect(await linesOf(of, runId, "q=LINE%2077")).toEqual([printed[77]]);
        expect(await linesOf(of, runId, "tail=2")).toEqual(printed.slice(-2));
        const query = "path_prefix=console/stdout&limit=1000";
        const { attributes } = (await of.get(`/api/runs/${runId}/attributes?${query}`)).json;
        expect(attributes.map(({ value }: { value: string }) => value)).toEqual(printed.map(([, text]) => text));
      };
      await check(api, ids["async"]!, "async");
      await check(api, ids["sync"]!, "sync");

      const found = async (of: Api, q: string): Promise<{ id: string; tags: string[] }[]> =>
        (await of.get(`/api/runs/summary?q=${encodeURIComponent(q)}`)).json.runs;
      const checkTags = async (of: Api, wanted: string[]) => {
        for (const tag of ["added-later", "two", "sweep-9", "own"]) {
          const runs = await found(of, `tag:${tag}`);
          expect(runs.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
          expect(runs.map(({ tags }) => tags)).toEqual([["own"], ["own"]]);
        }
        expect(await found(of, "tag:sweep-9 -tag:two")).toEqual([]);
      };
      await checkTags(api, Object.values(ids));
      const update = await api.post("/api/runs/bulk-update", {
        dry_run: true,
        filter: { q: "tag:sweep-9" },
        set: { notes: "n" },
      });
      expect([update.status, update.text]).toEqual([200, expect.stringContaining(ids["sync"]!)]);

      const { text } = await api.get("/api/export?format=ndjson&project=captured");
      const other = await stack().organization({ plan: "pro" });
      const restored = await other.api.post("/api/imports/archive", undefined, {
        rawBody: text,
        headers: { "content-type": "application/x-ndjson" },
      });
      expect([restored.status, restored.json.warnings]).toEqual([200, []]);
      const replaced = restored.json.replaced as { old: string; new: string }[];
      const idOf = new Map(replaced.map((row) => [row.old, row.new]));
      for (const [mode, id] of Object.entries(ids)) await check(other.api, idOf.get(id)!, mode);
      await checkTags(other.api, [...idOf.values()]);
    });
  });
});
