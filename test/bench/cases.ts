import type { Shot } from "./load.ts";
import { seededRandom } from "./seeded-random.ts";

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

const KEYS = ["train/loss", "train/accuracy", "train/grad_norm", "lr", "eval/loss", "eval/accuracy"];

function batchBody(points: number, keys: number, firstStep: number, noise: () => number): string {
  return JSON.stringify({
    points: Array.from({ length: points }, (_, index) => ({
      metrics: Object.fromEntries(Array.from({ length: keys }, (_unused, key) => [`metric/${key}`, noise()])),
      step: firstStep + index,
    })),
  });
}

/** Single-step writes: one POST per step with six metrics, as the Python SDK sends them. */
export function singleStepCases(runIds: readonly string[]): Case[] {
  const noise = seededRandom(1);
  const shot =
    (runs: readonly string[], keyed: boolean) =>
    (index: number): Shot => ({
      method: "POST",
      path: `/runs/${runs[index % runs.length]}/metrics`,
      body: JSON.stringify({
        metrics: Object.fromEntries(KEYS.map((key) => [key, noise()])),
        step: index,
        timestamp: null,
      }),
      ...(keyed
        ? {
            headers: {
              "idempotency-key": `bench-${process.pid}-${Math.round(performance.timeOrigin)}-${runs.length}-${index}`,
            },
          }
        : {}),
    });
  const one = runIds.slice(0, 1);
  return [
    ...[1, 8, 32].map((concurrency) => ({
      name: "single step, 6 metrics, 32 runs",
      concurrency,
      scalars: KEYS.length,
      ceiling: "commits" as const,
      shot: shot(runIds, false),
    })),
    { name: "single step, 6 metrics, 1 run", concurrency: 8, scalars: 6, ceiling: "commits", shot: shot(one, false) },
    {
      name: "single step, 6 metrics, 32 runs, keyed",
      concurrency: 8,
      scalars: 6,
      ceiling: "commits",
      shot: shot(runIds, true),
    },
    {
      name: "single step, 6 metrics, 32 runs, new connection each",
      concurrency: 8,
      fresh: true,
      scalars: 6,
      ceiling: "commits",
      shot: shot(runIds, false),
    },
  ];
}

/** Batches of 500 points with few and many keys. */
export function batchCases(runIds: readonly string[]): Case[] {
  const noise = seededRandom(2);
  return [2, 20, 100].flatMap((keys) => {
    // Bodies are made beforehand: the generator's own work would be measured otherwise.
    const bodies = Array.from({ length: 8 }, (_, index) => batchBody(500, keys, index * 500, noise));
    return [1, 8, 32].map((concurrency) => ({
      name: `batch, 500 points x ${keys} keys, 32 runs`,
      concurrency,
      scalars: 500 * keys,
      ceiling: "parse" as const,
      shot: (index: number): Shot => ({
        method: "POST",
        path: `/runs/${runIds[index % runIds.length]}/metrics/batch`,
        body: bodies[index % bodies.length],
      }),
    }));
  });
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
