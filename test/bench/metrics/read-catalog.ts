import type { BenchStack } from "../bench-stack.ts";
import type { ReadRow } from "../http-reads.ts";
import { openSender } from "../open-sender.ts";
import { percentilesOf } from "../percentiles.ts";
import { cpuBetween } from "../processes.ts";

const NEXT = /"metric_next_cursor":"([^"]+)"/;

/** Reads all keys of a run, page after page of 1,000, `samples` times. */
export async function readCatalog(
  bench: BenchStack,
  runId: string,
  { when, samples }: { readonly when: string; readonly samples: number },
): Promise<ReadRow> {
  const sender = openSender({ baseUrl: bench.stack.baseUrl, key: bench.key, connections: 1 });
  let bytes = 0;
  let pages = 0;
  const readAll = async (): Promise<void> => {
    bytes = 0;
    pages = 0;
    let cursor = "";
    for (;;) {
      const from = cursor === "" ? "" : `&metric_cursor=${encodeURIComponent(cursor)}`;
      const text = await sender.ask({ method: "GET", path: `/runs/${runId}?metric_limit=1000${from}` });
      bytes += Buffer.byteLength(text);
      pages += 1;
      const next = NEXT.exec(text)?.[1];
      if (next === undefined) return;
      cursor = next;
    }
  };
  const latencies: number[] = [];
  let errors = 0;
  let firstError: string | undefined;
  const before = await bench.readCpu();
  for (let sample = 0; sample < samples; sample += 1) {
    const started = performance.now();
    try {
      await readAll();
      latencies.push(performance.now() - started);
    } catch (error) {
      errors += 1;
      firstError ??= String(error);
    }
  }
  const { server, database } = cpuBetween(before, await bench.readCpu());
  await sender.close();
  return {
    name: `all keys by cursor, ${pages} pages one after another`,
    when,
    ...percentilesOf(latencies),
    samples: latencies.length,
    bytes,
    cpu: { server: (server * 1e6) / samples, database: (database * 1e6) / samples },
    errors,
    firstError,
  };
}
