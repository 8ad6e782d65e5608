import type { Shot } from "../open-sender.ts";
import { queuedBatch, queuedPoint } from "../sdk-requests.ts";
import { metricBodies } from "./metric-bodies.ts";
import { keyNames, recurringPlaces, writeAt, type WriteLoad } from "./write-load.ts";

/** Returns the requests of a load by their number, each as `instantml` sends it. @param timed whether points have a client time */
export function metricShots(
  tape: Float64Array,
  load: WriteLoad,
  runIds: readonly string[],
  timed = true,
): (index: number) => Shot {
  const { points, keys } = load;
  const bodies = metricBodies(tape, { points, keys: keyNames(keys), timed, recurring: recurringPlaces(load) });
  return (index) => {
    const write = writeAt(load, index);
    const runId = runIds[write.run]!;
    return points === 1 ? queuedPoint(runId, bodies.single(write)) : queuedBatch(runId, bodies.batch(write));
  };
}
