import { expect, test } from "@jest/globals";
import { factsOf, mainMetrics, metricWords, webAddress } from "./facts.ts";

test("facts come from metadata and attributes, the latter first", () => {
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
  expect(factsOf({}, [])).toEqual([]);
  expect(factsOf({ git: 3, host: { a: 1 } }, [])).toEqual([]);
});

test.each([
  ["https://example.test/a", "https://example.test/a"],
  ["mailto:a@example.test", "mailto:a@example.test"],
  ["javascript:alert(1)", undefined],
  [" JAVASCRIPT:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["https://user:secret@example.test/", undefined],
  ["just text", undefined],
])("%s leads to %s", (text, address) => expect(webAddress(text)).toBe(address));

test("the metrics that say most come first", () => {
  const one = { latest: 1, min: 1, max: 1, mean: 1, count: 1, best: 1, best_step: 0 };
  const keys = mainMetrics({ lr: one, loss: one, "val/loss": one, "system/gpu": one, "eval/acc": one, grad: one }, 4);
  expect(keys.map(([key]) => key)).toEqual(["eval/acc", "val/loss", "loss", "grad"]);
});

test.each([
  [0.123456789, "0.12346"],
  [1234567, "1,234,567"],
  [1e-12, "1e-12"],
  [null, "not finite"],
])("%d is written %s", (value, words) => expect(metricWords(value)).toBe(words));
