import { expect, test } from "@jest/globals";
import { factsOf, mainMetrics } from "./facts.ts";

test("facts are read from metadata and attributes, the latter first", () => {
  const metadata = {
    git: { commit: "abc", dirty: true, remote: "https://git.test/a" },
    python: "3.11",
    gpu: ["A100", "A100"],
  };
  const facts = factsOf(metadata, [
    { path: "sys/python", value: "3.12" },
    { path: "sys/hostname", value: "node-1" },
  ]);
  expect(facts).toEqual([
    { name: "Git commit", value: "abc" },
    { name: "Git remote", value: "https://git.test/a", href: "https://git.test/a" },
    { name: "Uncommitted changes", value: "Yes" },
    { name: "Host", value: "node-1" },
    { name: "Python", value: "3.12" },
    { name: "GPU", value: "A100 A100" },
  ]);
  expect(factsOf({ exit_code: 137 }, [])).toEqual([{ name: "Exit code", value: "137" }]);
  expect(factsOf({}, [])).toEqual([]);
  expect(factsOf({ git: 3, host: { a: 1 } }, [])).toEqual([]);
});

test("the metrics that say most come first", () => {
  const one = { latest: 1, min: 1, max: 1, mean: 1, count: 1, best: 1, best_step: 0 };
  const keys = mainMetrics({ lr: one, loss: one, "val/loss": one, "system/gpu": one, "eval/acc": one, grad: one }, 4);
  expect(keys.map(([key]) => key)).toEqual(["eval/acc", "val/loss", "loss", "grad"]);
});
