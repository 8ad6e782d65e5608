import { expect, test } from "@jest/globals";
import { drive, type Answer } from "./drive.ts";

async function drivenFor(count: number, options: { readonly concurrency: number; readonly rate?: number }) {
  const stop = new AbortController();
  const answers: Answer[] = [];
  const sent: number[] = [];
  await drive({
    ...options,
    signal: stop.signal,
    send: (index) => {
      sent.push(index);
      return index === 1 ? Promise.reject(new Error("refused")) : Promise.resolve();
    },
    onAnswer: (answer) => {
      answers.push(answer);
      if (answers.length === count) stop.abort();
    },
  });
  return { answers, sent };
}

test.each([
  ["a closed loop", { concurrency: 3 }],
  ["an open loop", { concurrency: 3, rate: 500 }],
])("%s sends every request once and counts failures", async (_what, options) => {
  const { answers, sent } = await drivenFor(9, options);
  expect(new Set(sent).size).toBe(sent.length);
  expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(1);
});

test("a request of an open loop that waits for a free place is as late as it has waited", async () => {
  const stop = new AbortController();
  const latencies: number[] = [];
  await drive({
    concurrency: 1,
    rate: 1000,
    signal: stop.signal,
    send: () => new Promise((resolve) => void setTimeout(resolve, 20)),
    onAnswer: ({ latencyMs }) => {
      latencies.push(latencyMs);
      if (latencies.length === 4) stop.abort();
    },
  });
  expect(latencies[3]).toBeGreaterThan(60);
});
