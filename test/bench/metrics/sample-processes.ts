import type { BenchStack } from "../bench-stack.ts";
import { cpuBetween, databaseMegabytes, residentMegabytes, type CpuReading } from "../processes.ts";
import { readBacklog, waitingInDatabase } from "./compaction-state.ts";

/** What was seen at one moment of a long load. */
export type Sample = {
  /** Milliseconds since the start of the load. */
  readonly atMs: number;
  /** Memory in MiB by process: the product's modules, `PostgreSQL`, `generator`. */
  readonly memory: ReadonlyMap<string, number>;
  /** Seconds for which the longest waiting work has been due, as the product reports it. */
  readonly lagSeconds: number;
  /** Landing segments that wait for compaction. */
  readonly rowsWaiting: number;
  /** Age in seconds of the oldest landing segment. */
  readonly oldestSeconds: number;
  /** CPU seconds since the last sample. */
  readonly cpu: CpuReading;
  /** Seconds since the last sample. */
  readonly seconds: number;
};

const SAMPLE_MS = 2000;

/** Takes a sample every two seconds until it is told to stop. */
export function sampleProcesses(bench: BenchStack): { stop(): Promise<readonly Sample[]> } {
  const samples: Sample[] = [];
  const names = new Map<number, string>();
  for (const child of bench.stack.children.values()) names.set(child.pid, child.name === "all" ? "server" : child.name);
  const started = performance.now();
  let cpu: CpuReading | undefined;
  let cpuAt = 0;

  const take = async (): Promise<void> => {
    const atMs = performance.now() - started;
    const memory = new Map<string, number>();
    for (const [pid, name] of names) memory.set(name, await residentMegabytes(pid));
    memory.set("PostgreSQL", await databaseMegabytes(bench.postgres.pid));
    memory.set("generator", await residentMegabytes(process.pid));
    const backlog = await readBacklog(bench);
    const { rows, oldestSeconds } = await waitingInDatabase(bench);
    const now = await bench.readCpu();
    if (cpu !== undefined) {
      samples.push({
        atMs,
        memory,
        lagSeconds: backlog?.lagSeconds ?? Number.NaN,
        rowsWaiting: rows,
        oldestSeconds,
        cpu: cpuBetween(cpu, now),
        seconds: (atMs - cpuAt) / 1000,
      });
    }
    cpu = now;
    cpuAt = atMs;
  };

  let failure: unknown;
  let current: Promise<void> = take();
  const timer = setInterval(() => {
    current = current.then(take).catch((error: unknown) => {
      failure ??= error;
    });
  }, SAMPLE_MS);
  return {
    async stop() {
      clearInterval(timer);
      await current;
      if (failure !== undefined) throw new Error("a sample could not be taken", { cause: failure });
      return samples;
    },
  };
}
