import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "rank metrics of the instantml SDK",
});

describeWith(environment)("processes that train together with the SDK", () => {
  describeModes("can be compared", (stack) => {
    test("every value of every rank is in the summary, with its weight, and what is not finite is kept", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const { code, stderr, report } = await runExample(
        environment!.python,
        [join(root, "test/examples/report_ranks.py")],
        { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key },
      );
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
      const { run_id, exit_codes, losses } = report as unknown as {
        run_id: string;
        exit_codes: number[];
        losses: number[][];
      };
      expect(exit_codes).toEqual([0, 0, 0, 0]);

      const summary = (await api.get(`/api/runs/${run_id}/rank-metrics/summary`)).json;
      expect(summary).toMatchObject({ keys: ["loss", "throughput"], key: "loss" });
      expect(summary.heatmap.map((cell: { value: number }) => cell.value)).toEqual(losses.flat());
      expect(summary.reducers).toHaveLength(losses.length);
      for (const [step, ofRanks] of losses.entries()) {
        const weighted = ofRanks.reduce((sum, loss, rank) => sum + loss * (1 + rank), 0) / 10;
        const reducers = summary.reducers[step];
        expect(reducers).toMatchObject({ step, rank_count: 4, expected_world_size: 4, world_size_mismatch: false });
        expect(reducers.mean).toBeCloseTo(ofRanks.reduce((sum, loss) => sum + loss, 0) / 4, 12);
        expect(reducers.weighted_mean).toBeCloseTo(weighted, 12);
      }
      const { metrics } = (await api.get(`/runs/${run_id}/metrics`)).json;
      const shown = metrics.map(({ key, value }: { key: string; value: unknown }) => [key, value]);
      expect(shown.filter(([key]: [string]) => !key.startsWith("system/"))).toEqual([
        ["grad", "-Infinity"],
        ["loss", 0.5],
        ["loss", "NaN"],
      ]);
    });
  });
});
