import { join } from "node:path";
import { COMPACT_AFTER_SECONDS, type BenchStack } from "../bench-stack.ts";
import type { LoopResult } from "../closed-loop.ts";
import { untilCompacted } from "./compaction-state.ts";
import { startLineProcess } from "./line-process.ts";
import type { MetricStore } from "./metric-store.ts";
import type { StoreCommand } from "./store-alone-process.ts";

/** The product's store without HTTP, in a process with its load, on the database of `bench`. */
export function storeAlone(bench: BenchStack): MetricStore {
  const { PATH = "", HOME = "" } = process.env;
  const script = join(import.meta.dirname, "store-alone-process.ts");
  const args = [script, bench.stack.databaseUrl, String(COMPACT_AFTER_SECONDS)];
  const child = startLineProcess(process.execPath, args, { PATH, HOME, NODE_NO_WARNINGS: "1" });
  return {
    name: "ours, the store alone",
    // Either process may compact what this one wrote.
    servers: [child.pid, ...bench.pids],
    clients: [],
    takes: () => true,
    async prepare(load) {
      const runIds = await bench.newRuns(load.runs);
      return (timing) => {
        const command: StoreCommand = { ...load, ...timing, orgId: bench.orgId, runIds };
        return child.ask<LoopResult>(command);
      };
    },
    settle: async () => void (await untilCompacted(bench)),
    close: () => child.close(),
  };
}
