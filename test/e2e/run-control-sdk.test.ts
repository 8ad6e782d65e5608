import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython, until } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "stopping a run that trains with the instantml SDK",
});

describeWith(environment)("a run that trains with the SDK", () => {
  describeModes("can be stopped", (stack) => {
    test("it is told within the SDK's patience, answers, ends by itself and shows stopped", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const training = runExample(environment!.python, [join(root, "test/examples/train_until_stopped.py")], {
        INSTANTML_API_BASE_URL: stack().baseUrl,
        INSTANTML_API_KEY: key,
      });
      const id = await until("the run to train", async () => {
        const [run] = (await api.get("/runs?project=stoppable")).json.runs;
        return run?.latest_metrics.loss === undefined ? undefined : (run.id as string);
      });
      const asked = (await api.post(`/api/runs/${id}/stop`, { reason: "no progress" })).json.run_control;
      const { code, stderr, report } = await training;
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);

      const { stop_request_id, stop_requested_at: requested_at } = asked;
      const { run_id, failures, quiet_at_first, request, still_asked, asked_after_the_end, ...rest } =
        report as unknown as Record<string, unknown>;
      expect({ run_id, failures, quiet_at_first, asked_after_the_end }).toEqual({
        run_id: id,
        failures: [],
        quiet_at_first: true,
        asked_after_the_end: false,
      });
      expect(request).toEqual({ stop_request_id, requested_at, acknowledged_at: null });
      expect(still_asked).toEqual({ stop_request_id, requested_at, acknowledged_at: expect.any(String) });
      expect(rest).toMatchObject({
        acknowledged: { run_id: id, run_control: { stop_state: "acknowledged", display_status: "stopping" } },
        completed: { run_id: id, run_control: { stop_state: "completed", display_status: "stopped" } },
      });

      const { run } = (await api.get(`/runs/${id}`)).json;
      expect(run).toMatchObject({
        status: "failed",
        run_control: {
          stop_state: "completed",
          display_status: "stopped",
          reason: "no progress",
          completion_message: "saved the last weights",
        },
      });
      expect(run.finished_at).toBe(run.run_control.stop_completed_at);
      expect(run.metric_aggregates.loss.count).toBe(rest["steps"]);
    });
  });
});
