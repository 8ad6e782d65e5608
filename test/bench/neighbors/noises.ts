import type { Shot } from "../frame/sender.ts";
import { stepPlace } from "../frame/step-places.ts";

/** The requests that an organization sends without a pause. */
export type Noise = {
  readonly name: string;
  readonly concurrency: number;
  readonly shots: readonly Shot[];
};

const get = (path: string): Shot => ({ method: "GET", path });
const search = (q: string): Shot => get(`/api/runs/summary?limit=25&q=${encodeURIComponent(q)}`);

const POINTS = 500;
const KEYS = 20;

/** Returns a batch whose steps continue from round to round. */
export function batchShot(runId: string): Shot {
  const metrics = Object.fromEntries(Array.from({ length: KEYS }, (_, key) => [`train/m${key}`, key + 0.123_456_7]));
  const points = Array.from({ length: POINTS }, (_, at) => ({
    step: stepPlace(at, POINTS),
    timestamp: "2026-11-24T10:00:00.123456Z",
    metrics,
  }));
  return { method: "POST", path: `/runs/${runId}/metrics/batch`, body: JSON.stringify({ points }) };
}

/** A body in chunks of one byte. */
const smallChunks: Shot = {
  method: "POST",
  path: "/runs",
  raw: `POST /runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(200_000)}0\r\n\r\n`,
};

const UNKNOWN_PATH = "GET /nope HTTP/1.1\r\nHost: x\r\n";

/** Unknown paths, sent without waiting for answers. */
const unknownPaths: Shot = {
  method: "GET",
  path: "/nope",
  raw: `${`${UNKNOWN_PATH}\r\n`.repeat(5000)}${UNKNOWN_PATH}Connection: close\r\n\r\n`,
};

/** Returns the noises of an organization with many seeded runs and some that it writes to. */
export function noisesOf(runIds: readonly string[]): Noise[] {
  const series = JSON.stringify({ key: "train/m0", run_ids: runIds, limit: 1000 });
  return [
    {
      name: "64 searches that find nothing",
      concurrency: 64,
      shots: ["zzyzx", "canyon AND zzyzx", "lion OR zzyzx", "-adamw AND zzyzx"].map(search),
    },
    {
      name: "32 regular expressions over all texts",
      concurrency: 32,
      shots: ["re:/z[aeiou]{3}y$/", "re:/(canyon|lion).*9{4}/"].map(search),
    },
    {
      name: "64 lists of all runs by a metric",
      concurrency: 64,
      shots: [
        get("/api/runs/summary?limit=500&sort_by=metric-best&metric_key=train/loss"),
        get("/api/overview?metric_key=train/loss"),
      ],
    },
    { name: `64 batches of ${POINTS} points x ${KEYS} keys`, concurrency: 64, shots: runIds.map(batchShot) },
    {
      name: "32 series of 32 runs",
      concurrency: 32,
      shots: [{ method: "POST", path: "/api/metrics/series", body: series }],
    },
    {
      name: "16 exports",
      concurrency: 16,
      shots: [get("/api/export?format=json&limit=500"), get("/api/export?format=csv&limit=500")],
    },
    { name: "8 bodies in chunks of one byte", concurrency: 8, shots: [smallChunks] },
    { name: "8 connections of 5,000 unknown paths each", concurrency: 8, shots: [unknownPaths] },
  ];
}
