import type { BenchStack } from "../bench-stack.ts";
import { runClosedLoop } from "../closed-loop.ts";
import { openSender, withSender, type Shot } from "../open-sender.ts";
import { untilCompacted } from "./compaction-state.ts";
import { fillRuns } from "./fill-runs.ts";
import type { MetricStore } from "./metric-store.ts";
import { metricShots } from "./metric-shots.ts";
import { metricTableBytes } from "./table-bytes.ts";
import type { WriteLoad } from "./write-load.ts";

const POINTS_PER_REQUEST = 500;
const PAGE = 5000;

/** Makes new runs for a load, and the requests that write to them. */
export async function shotsOf(
  bench: BenchStack,
  tape: Float64Array,
  load: WriteLoad,
): Promise<(index: number) => Shot> {
  return metricShots(tape, load, await bench.newRuns(load.runs));
}

/** The product as a client sees it, with the requests of `instantml`. */
export function oursOverHttp(bench: BenchStack, tape: Float64Array): MetricStore {
  const { stack, key } = bench;
  const reader = openSender({ baseUrl: stack.baseUrl, key, connections: 1 });

  const readPage = async (run: string, metric: string, from: number, limit: number): Promise<number[]> => {
    const body = JSON.stringify({ key: metric, run_ids: [run], start_step: from, limit });
    const text = await reader.ask({ method: "POST", path: "/api/metrics/series", body });
    const answer = JSON.parse(text) as { series: { metrics: { step: number }[] }[] };
    return answer.series[0]!.metrics.map(({ step }) => step);
  };

  return {
    name: "ours over HTTP",
    servers: bench.pids,
    clients: [],
    takes: () => true,
    async prepare(load) {
      const shotOf = await shotsOf(bench, tape, load);
      return (timing) =>
        withSender({ baseUrl: stack.baseUrl, key, connections: load.concurrency }, ({ send }) => {
          const once = async (index: number): Promise<void> => void (await send(shotOf(index)));
          return runClosedLoop({ concurrency: load.concurrency, ...timing, once });
        });
    },
    settle: async () => void (await untilCompacted(bench)),
    async fill({ runs, keys, series }) {
      const runIds = await bench.newRuns(runs);
      await fillRuns(bench, runIds, { keys, seriesOf: () => series, stepsPerRequest: POINTS_PER_REQUEST });
      return runIds;
    },
    // As a client does that wants more than one answer may hold: from the step after the last one on.
    read({ run, key: metric, points, limit }, timing) {
      const once = async (): Promise<void> => {
        let got = 0;
        for (let from = 0; got < Math.min(points, limit);) {
          const steps = await readPage(run, metric, from, Math.min(PAGE, limit - got));
          got += steps.length;
          if (steps.length === 0) throw new Error(`${got} of ${points} points`);
          from = steps.at(-1)! + 1;
        }
      };
      return runClosedLoop({ concurrency: 1, ...timing, once });
    },
    bytes: async () => (await metricTableBytes(bench.owner)).total,
    close: async () => {
      await reader.close();
      await bench.stop();
    },
  };
}
