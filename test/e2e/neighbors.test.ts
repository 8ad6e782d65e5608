import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeOwnModes } from "../stack/modes.ts";

// How long an organization that sends as much as it can makes another one wait, as a share of its own wait.

const AT_A_TIME = 48;
const POINTS = 500;
const KEYS = 20;
const PROBES = 25;

function batch(from: number): object {
  const metrics = Object.fromEntries(Array.from({ length: KEYS }, (_, key) => [`train/m${key}`, key + 0.123_456_7]));
  return { points: Array.from({ length: POINTS }, (_, step) => ({ step: from + step, metrics })) };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Milliseconds of a call that succeeds. */
async function timed(call: () => Promise<{ status: number; text: string }>): Promise<number> {
  const sinceMs = performance.now();
  const { status, text } = await call();
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return performance.now() - sinceMs;
}

describeOwnModes("neighbors of an organization that sends large batches without a pause", (stack) => {
  const person = async (): Promise<{ api: Api; run: string }> => {
    const api = stack().api.as((await stack().organization()).key);
    return { api, run: (await api.post("/runs", { project: "p" })).json.run.id };
  };

  test("wait a fraction of what it waits", async () => {
    const [noisy, quiet] = [await person(), await person()];
    const ofNoisy: number[] = [];
    let isOver = false;
    const send = async (sender: number): Promise<void> => {
      for (let i = 0; !isOver; i += 1) {
        const body = batch((sender * 10_000 + i) * POINTS);
        ofNoisy.push(await timed(() => noisy.api.post(`/runs/${noisy.run}/metrics/batch`, body)));
      }
    };
    const probe = async (): Promise<number> => {
      const write = { step: 1, metrics: { loss: 0.5 } };
      const ms = await timed(() => quiet.api.post(`/runs/${quiet.run}/metrics`, write));
      await pause(20);
      return ms;
    };
    await probe();
    const senders = Array.from({ length: AT_A_TIME }, (_, sender) => send(sender));
    // Until the process has found out who keeps it busy.
    while (ofNoisy.length < AT_A_TIME) await probe();
    ofNoisy.length = 0;
    const ofQuiet: number[] = [];
    while (ofQuiet.length < PROBES) ofQuiet.push(await probe());
    isOver = true;
    await Promise.all(senders);
    // Some 0.1 where nothing else runs, and 0.4 where other tests take the processor; without turns both wait the same.
    expect(median(ofQuiet) / median(ofNoisy)).toBeLessThan(0.6);
  });
});
