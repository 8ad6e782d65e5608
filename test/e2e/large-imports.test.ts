import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { createImport } from "../stack/imports.ts";
import { describeOwnModes } from "../stack/modes.ts";

// Large bodies of imports: how long another organization waits for the same process meanwhile.

const CHUNK_BYTES = 6 * 1024 * 1024;

/** Repeats items up to `bytes` bytes, at most `countMax` of them. */
function fill(bytes: number, countMax: number, item: (index: number) => string): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; i < countMax; i += 1) {
    const text = item(i);
    length += text.length + 1;
    if (length > bytes) break;
    parts.push(text);
  }
  return parts.join(",");
}

/** Members of a chunk, each slow to read in its own way. */
const contents: readonly (readonly [string, string])[] = [
  [
    "points",
    `"metric_points":[${fill(CHUNK_BYTES, 50_000, (i) => `{"source_run_id":"r","key":"k${i % 500}","step":${i},"value":${i}.25,"timestamp":"2026-01-01T00:00:00Z"}`)}]`,
  ],
  ["numbers", `"runs":[{"source_run_id":"r","config":{"v":[${fill(CHUNK_BYTES, Infinity, (i) => `${i}`)}]}}]`],
  [
    "texts like secrets",
    `"runs":[{"source_run_id":"r","metadata":{"v":[${fill(CHUNK_BYTES, Infinity, (i) => `"https://u${i}:p@h/?token=${i}&x=1 Bearer abcdefghijk${i}"`)}]}}]`,
  ],
  [
    "runs",
    `"runs":[${fill(CHUNK_BYTES, 5000, (i) => `{"source_run_id":"r${i}","tags":["a"],"config":{"lr":0.${i}}}`)}]`,
  ],
];

/** A document of W&B. */
const document = `{"project":"p","runs":[{"id":"w","history":[${fill(900_000, Infinity, (i) => `{"_step":${i},"loss":${i}.5,"_timestamp":${i}}`)}]}]}`;

describeOwnModes("a large import", (stack) => {
  const newApi = async (): Promise<Api> => stack().api.as((await stack().organization()).key);

  /** Returns the milliseconds of the neighbor's slowest request until the work is done. */
  async function slowestDuring(work: Promise<unknown>, api: Api): Promise<number> {
    let isOver = false;
    void work.finally(() => (isOver = true));
    let slowestMs = 0;
    while (!isOver) {
      const startedMs = performance.now();
      expect((await api.get("/api/imports")).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await pause(1);
    }
    return slowestMs;
  }

  test("delays other requests by only a small part of its duration", async () => {
    const [api, neighbor] = [await newApi(), await newApi()];
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    let [waitedMs, tookMs] = [0, 0];
    const measure = async (what: string, path: string, body: string): Promise<void> => {
      const rawBody = gzipSync(body, { level: 1 });
      const startedMs = performance.now();
      const sent = api.post(path, undefined, { rawBody, headers });
      const slowestMs = await slowestDuring(sent, neighbor);
      tookMs += performance.now() - startedMs;
      waitedMs += slowestMs;
      const { status } = await sent;
      expect([what, [200, 400].includes(status), status]).toEqual([what, true, status]);
    };
    for (const [what, content] of contents) {
      const job = await createImport(api);
      await measure(what, `${job.path}/chunks`, `${JSON.stringify(job.head()).slice(0, -1)},${content}}`);
    }
    await measure("a document", "/api/imports/wandb?dry_run=true", document);
    // A process that reads a body in one turn makes other requests wait for about two thirds of it.
    expect(waitedMs / tookMs).toBeLessThan(0.35);
  });
});
