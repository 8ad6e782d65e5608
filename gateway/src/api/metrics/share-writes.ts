import type { Identity } from "@tidemark/proto/common/v1/common";
import type { AppendMetricsResponse } from "@tidemark/proto/ingest/v1/ingest";
import { fromRefusal, type Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";

type Ingest = Clients["ingest"];
type Write = Parameters<Ingest["appendMetrics"]>[0];

/** Most simultaneous calls of one caller: two, so that the next is prepared while the service works. */
const CALLS_MAX = 2;
/** Most writes of one call, and most values in them. */
const WRITES_MAX = 64;
const VALUES_MAX = 8192;

type Waiting = {
  readonly request: Write;
  readonly call: Call;
  readonly values: number;
  readonly done: (response: AppendMetricsResponse) => void;
  readonly failed: (error: unknown) => void;
};

type Lane = { calls: number; waiting: Waiting[] };

/**
 * Returns the same client, whose metric writes share calls: while calls of a caller are in flight, its next small writes wait for one of them
 * to return and are then sent together. There is no timer, so a caller with one write at a time never waits. This pays where the service is another
 * process: the fixed cost of a call is most of the cost of a small write.
 */
export function shareWrites(ingest: Ingest): Ingest {
  const lanes = new Map<Identity, Lane>();

  const send = async (writes: readonly Waiting[]): Promise<void> => {
    const [first] = writes;
    if (first === undefined) return;
    if (writes.length === 1) {
      await ingest.appendMetrics(first.request, first.call).then(first.done, first.failed);
      return;
    }
    const call = { ...first.call, deadlineMs: Math.min(...writes.map((write) => write.call.deadlineMs)) };
    try {
      const { outcomes } = await ingest.appendMetricsTogether({ writes: writes.map(({ request }) => request) }, call);
      writes.forEach((write, i) => {
        const outcome = outcomes[i]?.outcome;
        if (outcome?.case === "stored") write.done(outcome.value);
        else if (outcome?.case === "alone")
          ingest.appendMetrics(write.request, write.call).then(write.done, write.failed);
        else if (outcome?.case === "refused") write.failed(fromRefusal(outcome.value));
        else write.failed(new Error("a write has no outcome"));
      });
    } catch (error) {
      for (const write of writes) write.failed(error);
    }
  };

  /** Takes the next writes to send together. */
  const take = (lane: Lane): Waiting[] => {
    const now = Date.now();
    let values = 0;
    let count = 0;
    while (count < Math.min(WRITES_MAX, lane.waiting.length)) {
      const next = lane.waiting[count]!;
      values += next.values;
      // A write past its deadline fails alone.
      if (count > 0 && (values > VALUES_MAX || next.call.deadlineMs <= now)) break;
      count += 1;
      if (next.call.deadlineMs <= now) break;
    }
    return lane.waiting.splice(0, count);
  };

  const work = async (identity: Identity, lane: Lane): Promise<void> => {
    lane.calls += 1;
    while (lane.waiting.length > 0) await send(take(lane));
    lane.calls -= 1;
    if (lane.calls === 0) lanes.delete(identity);
  };

  return {
    ...ingest,
    appendMetrics(request, call) {
      const { identity } = call;
      const values = request.columns?.values?.length ?? 0;
      if (identity === undefined || values > VALUES_MAX) return ingest.appendMetrics(request, call);
      return new Promise((done, failed) => {
        const lane = lanes.get(identity) ?? { calls: 0, waiting: [] };
        lanes.set(identity, lane);
        lane.waiting.push({ request, call, values, done, failed });
        if (lane.calls < CALLS_MAX) void work(identity, lane);
      });
    },
  };
}
