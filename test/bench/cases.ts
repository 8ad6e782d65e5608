import type { Shot } from "./load.ts";
import { metricShots } from "./metrics/metric-shots.ts";
import { valueTape } from "./metrics/metric-values.ts";
import type { WriteLoad } from "./metrics/write-load.ts";
import { withoutKey } from "./sdk-requests.ts";

/** A case of the benchmark: what is sent, and what one request is worth. */
export type Case = {
  name: string;
  concurrency: number;
  fresh?: boolean;
  /** Scalars that one request writes or reads. */
  scalars: number;
  /** Which ceiling the rate is a share of. */
  ceiling: "commits" | "parse" | "none";
  shot: (index: number) => Shot;
};

/** What the name of a case has at its end that is sent without client times, to be compared with the one that has them. */
export const UNTIMED = ", no client times";

/** Writes of one shape by several numbers of connections, which go on where the ones before stopped. */
function writeCases(
  runIds: readonly string[],
  shape: Pick<WriteLoad, "points" | "keys">,
  rest: Pick<Case, "name" | "ceiling" | "fresh"> & {
    readonly concurrencies: readonly number[];
    readonly timed?: boolean;
  },
): Case[] {
  const { concurrencies, timed, ...same } = rest;
  const load = { ...shape, runs: runIds.length, concurrency: Math.max(...concurrencies) };
  let shotOf: ((index: number) => Shot) | undefined;
  let next = 0;
  const shot = (): Shot => {
    shotOf ??= metricShots(valueTape(), load, runIds, timed);
    return shotOf(next++);
  };
  return concurrencies.map((concurrency) => ({ ...same, concurrency, scalars: shape.points * shape.keys, shot }));
}

/** Single-step writes: one POST per step with six metrics, each as `instantml` 0.1.1 sends it from its queue, over kept connections unless it says otherwise. */
export function singleStepCases(runIds: readonly string[]): Case[] {
  const name = "single step, 6 metrics, 32 runs";
  const ceiling = "commits";
  const shape = { points: 1, keys: 6 };
  return [
    ...writeCases(runIds, shape, { name, ceiling, concurrencies: [1, 8, 32] }),
    ...writeCases(runIds, shape, { name: `${name}${UNTIMED}`, ceiling, concurrencies: [8], timed: false }),
    ...writeCases(runIds.slice(0, 1), shape, { name: "single step, 6 metrics, 1 run", ceiling, concurrencies: [8] }),
    ...writeCases(runIds, shape, { name: `${name}, new connection each`, ceiling, fresh: true, concurrencies: [8] }),
    ...writeCases(runIds, shape, { name: `${name}, no idempotency key`, ceiling, concurrencies: [8] }).map((one) => ({
      ...one,
      shot: (index: number) => withoutKey(one.shot(index)),
    })),
  ];
}

/** Batches of 500 points with few and many keys, as the uploader of `instantml` makes them. */
export function batchCases(runIds: readonly string[]): Case[] {
  const ceiling = "parse";
  const nameOf = (keys: number): string => `batch, 500 points x ${keys} keys, 32 runs`;
  const casesOf = (keys: number, concurrencies: readonly number[], timed = true): Case[] =>
    writeCases(
      runIds,
      { points: 500, keys },
      { name: `${nameOf(keys)}${timed ? "" : UNTIMED}`, ceiling, concurrencies, timed },
    );
  return [2, 20, 100].flatMap((keys) => [
    ...casesOf(keys, [1, 8, 32]),
    ...(keys === 2 ? casesOf(keys, [8], false) : []),
  ]);
}

/** Reads of one run that holds 5,000 steps of two metrics, and of the run list. */
export function readCases(runId: string): Case[] {
  const get = (path: string) => (): Shot => ({ method: "GET", path });
  const read = (name: string, scalars: number, shot: Case["shot"]): Case => ({
    name,
    concurrency: 8,
    scalars,
    ceiling: "none",
    shot,
  });
  return [
    read("GET /runs/{id}", 0, get(`/runs/${runId}`)),
    read("GET /runs?limit=100", 0, get("/runs?limit=100")),
    read("GET /runs/{id}/metrics, 1,000 points", 1000, get(`/runs/${runId}/metrics?key=loss&limit=1000`)),
    read("POST /api/metrics/series, 5,000 points", 5000, () => ({
      method: "POST",
      path: "/api/metrics/series",
      body: JSON.stringify({ key: "loss", run_ids: [runId], limit: 5000 }),
    })),
    read("GET /health", 0, get("/health")),
  ];
}
