import { expect, test } from "@jest/globals";
import { metricDirection } from "./metric-direction.ts";

test.each([
  ["val/loss", "min"],
  ["eval_RMSE", "min"],
  ["val/accuracy", "max"],
  ["test/top1_acc", "max"],
  ["eval/ndcg_score", "max"],
  ["rollout/reward", "max"],
  ["recall@10", "max"],
  ["reward_loss", "min"],
  ["system/gpu.0.utilization", undefined],
  ["lr", undefined],
  ["epoch", undefined],
  ["accuracies", undefined],
])("the better direction of %s is %s", (key, direction) => {
  expect(metricDirection(key)).toBe(direction);
});
