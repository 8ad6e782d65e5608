import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { underDeadline } from "@tidemark/work";
import { createColumnsReader } from "./columns-reader.rules.ts";
import type { ColumnsQuery } from "./series-columns.rules.ts";
import { planRead, type ReadPlan } from "./read-plan.rules.ts";
import { createSeriesThreads, type SeriesThreads } from "./series-threads.ts";

let threads: SeriesThreads;
afterEach(() => threads.close());

const query: ColumnsQuery = {
  keys: ["loss"],
  startStep: undefined,
  endStep: undefined,
  afterStep: undefined,
  limit: 10,
  buckets: undefined,
  edges: false,
  sharedGrid: false,
  axis: "step",
  smoothing: { kind: "mean", parameter: 3 },
};
/** A read of a run without points. */
const plan: ReadPlan = planRead(query, [{ chain: [{ runId: "a", cutStep: Infinity }], startedUs: 0 }], [[new Map()]]);
const finish = (orgId: string) => threads.use(orgId, async (open) => open(plan).finish());

describe("series threads", () => {
  test("make what a reader in place makes, read after read", async () => {
    threads = createSeriesThreads(1);
    const wanted = createColumnsReader(plan).finish();
    expect(await finish("a")).toEqual(wanted);
    expect(await finish("a")).toEqual(wanted);
  });

  test("are had by organizations in turns", async () => {
    threads = createSeriesThreads(1);
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const first = threads.use("noisy", () => held.promise);
    const waiting = ["noisy", "noisy", "quiet"].map((orgId) =>
      threads.use(orgId, async () => {
        order.push(orgId);
      }),
    );
    held.resolve();
    await Promise.all([first, ...waiting]);
    expect(order).toEqual(["quiet", "noisy", "noisy"]);
  });

  test("end with a read whose request is over, and the next one gets another", async () => {
    threads = createSeriesThreads(1);
    const over = underDeadline(Date.now() + 50, () =>
      threads.use("a", async (open) => {
        const sink = open(plan);
        await pause(100);
        return sink.finish();
      }),
    );
    await expect(over).rejects.toMatchObject({ reason: "deadline_exceeded" });
    expect(await finish("a")).toEqual(createColumnsReader(plan).finish());
  });

  test("refuse a read that waits beyond its deadline", async () => {
    threads = createSeriesThreads(1);
    const held = Promise.withResolvers<void>();
    const first = threads.use("a", () => held.promise);
    const late = underDeadline(Date.now() + 50, () => threads.use("a", async () => "never"));
    await expect(late).rejects.toMatchObject({ reason: "deadline_exceeded" });
    held.resolve();
    await first;
  });

  test("pass on what fails inside", async () => {
    threads = createSeriesThreads(1);
    const broken = { ...plan, sources: [] };
    const page = {
      bytes: new Uint8Array(8),
      rows: [{ kind: 1, source: 0, entry: 0, receivedUs: 0, at: 0, steps: -1, times: -1, section: 8 }],
    } as const;
    const failing = threads.use("a", async (open) => {
      const sink = open(broken);
      await sink.add(page);
      return sink.finish();
    });
    await expect(failing).rejects.toThrow("a series failed in its thread");
    expect(await finish("a")).toEqual(createColumnsReader(plan).finish());
  });

  test("reject waiting and later work when they are closed", async () => {
    threads = createSeriesThreads(1);
    const held = Promise.withResolvers<void>();
    const first = threads.use("a", () => held.promise);
    const waiting = threads.use("a", async () => "never");
    await Promise.all([expect(waiting).rejects.toThrow("closed"), threads.close()]);
    held.resolve();
    await first;
    await expect(threads.use("a", async () => "never")).rejects.toThrow("closed");
  });
});
