import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "rate limits and the instantml SDK",
});

/** Returns how many requests the gateway has refused for their rate. */
async function refusedBy(stack: OwnStack): Promise<number> {
  const refused = /^tidemark_http_requests_total\{.*status="429".*\} (\d+)$/gm;
  return [...(await stack.metricsText("gateway")).matchAll(refused)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describeWith(environment)("the SDK above the rate of its plan", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("embedded", { settings: { TIDEMARK_LIMITS: "on" } });
  });
  afterAll(() => stack.stop());

  test("waits and repeats, and loses nothing, with its queue and without", async () => {
    const { key, api } = await stack.organization({ plan: "free" });
    const { code, stderr, report } = await runExample(
      environment!.python,
      [join(root, "test/examples/log_at_limit.py")],
      { INSTANTML_API_BASE_URL: stack.baseUrl, INSTANTML_API_KEY: key },
    );
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
    const { steps, run_ids } = report as unknown as { steps: number; run_ids: Record<"async" | "sync", string> };
    expect(await refusedBy(stack)).toBeGreaterThan(2);
    for (const id of [run_ids.async, run_ids.sync]) {
      const { metrics } = (await api.get(`/runs/${id}/metrics?key=loss`)).json;
      const expected = Array.from({ length: steps }, (_, step) => [step, 1 / (1 + step)]);
      expect(metrics.map(({ step, value }: { step: number; value: number }) => [step, value])).toEqual(expected);
      expect((await api.get(`/runs/${id}`)).json.run.status).toBe("finished");
    }
  });
});
