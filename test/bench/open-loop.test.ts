import { expect, test } from "@jest/globals";
import { runOpenLoop, type OpenLoopAnswer } from "./open-loop.ts";

const collect = async (
  options: Partial<Parameters<typeof runOpenLoop>[0]> & Pick<Parameters<typeof runOpenLoop>[0], "send">,
): Promise<OpenLoopAnswer[]> => {
  const answers: OpenLoopAnswer[] = [];
  await runOpenLoop({ rate: 1000, seconds: 0.05, inFlightMax: 10, onAnswer: (one) => answers.push(one), ...options });
  return answers;
};

test("every request is sent once, in the order in which they are due", async () => {
  const sent: number[] = [];
  const answers = await collect({ send: async (index) => void sent.push(index) });
  expect(sent).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(answers.map(({ dueMs }) => dueMs)).toEqual(sent.map((index) => index));
});

test("no more are on the way than allowed, and what waits for a place counts as waiting", async () => {
  let now = 0;
  let most = 0;
  const answers = await collect({
    inFlightMax: 3,
    send: async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
    },
  });
  expect(most).toBe(3);
  expect(answers).toHaveLength(50);
  expect(Math.max(...answers.map(({ latencyMs }) => latencyMs))).toBeGreaterThan(5);
});

test("a failure is reported and stops nothing", async () => {
  const answers = await collect({
    send: (index) => (index === 3 ? Promise.reject(new Error("no")) : Promise.resolve()),
  });
  expect(answers.filter(({ error }) => error !== undefined).map(({ index }) => index)).toEqual([3]);
  expect(answers).toHaveLength(50);
});

test("a signal ends it early", async () => {
  const stop = new AbortController();
  const answers = await collect({
    signal: stop.signal,
    send: async (index) => {
      if (index === 4) stop.abort();
    },
  });
  expect(answers).toHaveLength(5);
});
