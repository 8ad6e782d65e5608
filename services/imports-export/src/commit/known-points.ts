import type { Content } from "../content/content.rules.ts";
import type { CallWithRetry } from "../jobs/run-held.ts";
import { pointsBySource } from "./columns.rules.ts";
import type { CommitClients } from "./write-rows.ts";

/** Points that are read together at first; more if they all have one step. */
const PAGE_POINTS = 20_000;

/**
 * Returns a bit for each point of a content that its run already has, equal in key, step, time and value; null when there is none.
 * `runIdOf` returns the runs to look at, by source.
 */
export async function findKnownPoints(
  clients: Pick<CommitClients, "ingestRead">,
  callWithRetry: CallWithRetry,
  content: Content,
  runIdOf: (source: number) => string | undefined,
): Promise<Uint8Array | null> {
  const { points, keys } = content;
  const known = new Uint8Array(Math.ceil(points.steps.length / 8));
  let found = 0;
  for (const [source, indexes] of pointsBySource(content, (of) => runIdOf(of) !== undefined)) {
    const byKey = Map.groupBy(indexes, (i) => points.keys[i]!);
    for (const [key, ofKey] of byKey) {
      const stored = await readStored(
        clients,
        callWithRetry,
        runIdOf(source)!,
        keys[key]!,
        boundsOf(points.steps, ofKey),
      );
      for (const i of ofKey) {
        if (!stored.has(nameOf(points.steps[i]!, points.timesUs[i]!, points.values[i]!))) continue;
        known[i >>> 3]! |= 1 << (i & 7);
        found += 1;
      }
    }
  }
  return found === 0 ? null : known;
}

type Bounds = { readonly startStep: number; readonly endStep: number };

function boundsOf(steps: Float64Array, indexes: readonly number[]): Bounds {
  let startStep = Infinity;
  let endStep = -Infinity;
  for (const i of indexes) {
    startStep = Math.min(startStep, steps[i]!);
    endStep = Math.max(endStep, steps[i]!);
  }
  return { startStep, endStep };
}

/** -0 and 0 are equal. */
function nameOf(step: number, timeUs: number, value: number): string {
  return `${step + 0} ${timeUs} ${value + 0}`;
}

/** Returns the points of a key between two steps, by their names. */
async function readStored(
  { ingestRead }: Pick<CommitClients, "ingestRead">,
  callWithRetry: CallWithRetry,
  runId: string,
  key: string,
  { startStep, endStep }: Bounds,
): Promise<Set<string>> {
  const stored = new Set<string>();
  let limit = PAGE_POINTS;
  for (let from = startStep; ;) {
    const request = { runId, key, startStep: from, endStep, limit };
    const { keys, truncated } = await callWithRetry((call) => ingestRead.listMetricPoints(request, call));
    const { steps = [], values = [], timestampsUs = [] } = keys[0]?.points ?? {};
    for (let i = 0; i < steps.length; i++) {
      stored.add(nameOf(steps[i]!, timestampsUs.length === 0 ? Number.NaN : timestampsUs[i]!, values[i]!));
    }
    if (!truncated) return stored;
    const last = steps.at(-1)!;
    // The last step may have more points than were read.
    if (last === from) limit *= 2;
    from = last;
  }
}
