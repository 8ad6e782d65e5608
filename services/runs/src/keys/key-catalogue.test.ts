import { expect, test } from "@jest/globals";
import { keyOf, type Key } from "./key.rules.ts";
import { createKeyCatalogue } from "./key-catalogue.ts";

/** A catalogue whose counts take a given time; each finds one more run. */
function started() {
  const clock = { ms: 0, tookMs: 0, counts: 0, fails: false };
  const count = async (): Promise<Key[]> => {
    await Promise.resolve();
    clock.ms += clock.tookMs;
    clock.counts += 1;
    if (clock.fails) throw new Error(`count ${clock.counts}`);
    return [keyOf("metric", "loss", clock.counts)];
  };
  const catalogue = createKeyCatalogue({
    db: { readTenant: (() => count()) as never },
    nowMs: () => clock.ms,
    onFailed: (error) => {
      throw error;
    },
  });
  const runs = async (version: string, project = "p") =>
    (await catalogue.keysOf("o", project, "metric", version))[0]?.runs;
  return { clock, runs };
}

test("keys are counted once for each version, and again after a minute", async () => {
  const { clock, runs } = started();
  expect([await runs("1"), await runs("1")]).toEqual([1, 1]);
  expect([await runs("2"), await runs("2")]).toEqual([2, 2]);
  expect(await runs("2", "another")).toBe(3);
  clock.ms += 60_000;
  expect(await runs("2")).toBe(4);
});

test("requests at the same time share a count, unless it may have begun before what they know of", async () => {
  const { runs } = started();
  expect(await Promise.all([runs("1"), runs("1"), runs("1")])).toEqual([1, 1, 1]);
  expect(await Promise.all([runs("2"), runs("3")])).toEqual([2, 3]);
});

test("keys that take long to count are at most ten times as old, and are renewed before that", async () => {
  const { clock, runs } = started();
  clock.tookMs = 1000;
  expect(await runs("1")).toBe(1);
  clock.ms += 3000;
  expect(await runs("2")).toBe(1);
  clock.ms += 3000;
  expect(await runs("2")).toBe(1);
  await new Promise(setImmediate);
  expect([clock.counts, await runs("2")]).toEqual([2, 2]);
  clock.ms += 20_000;
  expect(await runs("3")).toBe(3);
});

test("keys that cannot be counted in time are not counted again and again", async () => {
  const { clock, runs } = started();
  [clock.fails, clock.tookMs] = [true, 5000];
  await expect(runs("1")).rejects.toThrow("count 1");
  await expect(runs("2")).rejects.toThrow("count 1");
  clock.ms += 50_000;
  await expect(runs("2")).rejects.toThrow("count 2");
  clock.fails = false;
  await expect(runs("2")).rejects.toThrow("count 2");
  clock.ms += 50_000;
  expect(await runs("2")).toBe(3);
});

test("a first failure is retried immediately", async () => {
  const { clock, runs } = started();
  clock.fails = true;
  await expect(runs("1")).rejects.toThrow("count 1");
  clock.fails = false;
  expect(await runs("1")).toBe(2);
});
