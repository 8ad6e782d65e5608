import type { Shot } from "../open-sender.ts";

/** What an organization asks for without a pause. */
export type Noise = { readonly name: string; readonly concurrency: number; readonly shots: readonly Shot[] };

const get = (path: string): Shot => ({ method: "GET", path });
const search = (q: string): Shot => get(`/api/runs/summary?limit=25&q=${encodeURIComponent(q)}`);

const POINTS = 500;
const KEYS = 20;

/** Stands for the step of a point, which goes on from batch to batch as in training. */
const STEP = /"@(\d+)"/g;

/** A shot with the steps of its `round`-th batch. */
export function shotOfRound(shot: Shot, round: number): Shot {
  const { body } = shot;
  if (typeof body !== "string") return shot;
  return { ...shot, body: body.replaceAll(STEP, (_, place: string) => String(round * POINTS + Number(place))) };
}

function batch(runId: string): Shot {
  const metrics = Object.fromEntries(Array.from({ length: KEYS }, (_, key) => [`train/m${key}`, key + 0.123_456_7]));
  const points = Array.from({ length: POINTS }, (_, step) => ({
    step: `@${step}`,
    timestamp: "2026-11-24T10:00:00.123456Z",
    metrics,
  }));
  return { method: "POST", path: `/runs/${runId}/metrics/batch`, body: JSON.stringify({ points }) };
}

function series(runIds: readonly string[]): Shot {
  const body = JSON.stringify({ key: "train/m0", run_ids: runIds, limit: 1000 });
  return { method: "POST", path: "/api/metrics/series", body };
}

/** The noises of an organization with many seeded runs and some that it writes to. */
export function noisesOf(runIds: readonly string[]): Noise[] {
  return [
    {
      name: "64 searches at a time that find nothing, with totals",
      concurrency: 64,
      shots: ["zzyzx", "canyon AND zzyzx", "lion OR zzyzx", "-adamw AND zzyzx"].map(search),
    },
    {
      name: "32 regular expressions at a time over all texts",
      concurrency: 32,
      shots: ["re:/z[aeiou]{3}y$/", "re:/(canyon|lion).*9{4}/"].map(search),
    },
    {
      name: "64 lists of all runs by a metric at a time",
      concurrency: 64,
      shots: [
        get("/api/runs/summary?limit=500&sort_by=metric-best&metric_key=train/loss"),
        get("/api/overview?metric_key=train/loss"),
      ],
    },
    {
      name: `64 batches of ${POINTS} points x ${KEYS} keys at a time`,
      concurrency: 64,
      shots: runIds.map(batch),
    },
    { name: "32 series of 32 runs at a time", concurrency: 32, shots: [series(runIds)] },
    {
      name: "16 exports at a time",
      concurrency: 16,
      shots: [get("/api/export?format=json&limit=500"), get("/api/export?format=csv&limit=500")],
    },
  ];
}
