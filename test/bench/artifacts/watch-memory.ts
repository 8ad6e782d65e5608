import { request } from "undici";
import { residentMegabytes } from "../processes.ts";
import type { ByteStore } from "./byte-store.ts";

/** Memory of one process in MiB. `outside` is what is outside of JavaScript's heap, mostly array buffers; NaN where it is not told. */
export type MemoryPeak = {
  readonly before: number;
  readonly peak: number;
  readonly outsideBefore: number;
  readonly outsidePeak: number;
};

const RESIDENT_MS = 100;
const OUTSIDE_MS = 500;
const MIB = 1024 ** 2;

async function outsideMegabytes(url: string | undefined): Promise<number> {
  if (url === undefined) return Number.NaN;
  const text = await request(url).then(({ body }) => body.text());
  return Number(/^nodejs_external_memory_bytes(?:\{.*?\})? (\S+)/m.exec(text)?.[1]) / MIB;
}

/** Looks at the memory of a store's processes until it is told to stop: at what is resident every 100 ms, at what processes report twice a second. */
export async function watchMemory({
  processes,
  metrics,
}: Pick<ByteStore, "processes" | "metrics">): Promise<{ stop(): Promise<ReadonlyMap<string, MemoryPeak>> }> {
  const peaks = new Map<string, MemoryPeak>();
  const takeResident = async (): Promise<void> => {
    for (const [name, pid] of processes) {
      const now = await residentMegabytes(pid);
      const seen = peaks.get(name) ?? { before: now, peak: now, outsideBefore: Number.NaN, outsidePeak: Number.NaN };
      peaks.set(name, { ...seen, peak: Math.max(seen.peak, now) });
    }
  };
  const takeOutside = async (): Promise<void> => {
    for (const [name, url] of metrics) {
      const now = await outsideMegabytes(url);
      const seen = peaks.get(name)!;
      const first = Number.isNaN(seen.outsideBefore);
      peaks.set(name, {
        ...seen,
        outsideBefore: first ? now : seen.outsideBefore,
        outsidePeak: first ? now : Math.max(seen.outsidePeak, now),
      });
    }
  };
  await takeResident();
  await takeOutside();
  const resident = repeat(takeResident, RESIDENT_MS);
  const outside = repeat(takeOutside, OUTSIDE_MS);
  return {
    async stop() {
      await Promise.all([resident(), outside()]);
      return peaks;
    },
  };
}

/** Calls it again and again until the returned function is called, which rejects with the first failure. */
function repeat(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  let current = Promise.resolve();
  const timer = setInterval(() => {
    current = current.then(work).catch((error: unknown) => {
      failure ??= { error };
    });
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await current;
    if (failure !== undefined) throw failure.error;
  };
}
