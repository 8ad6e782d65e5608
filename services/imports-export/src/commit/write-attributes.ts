import type { SourceAttribute } from "../content/content.rules.ts";
import type { CallWithRetry } from "../jobs/call-with-retry.ts";
import type { CommitClients } from "./clients.ts";
import { BYTES_TOGETHER_MAX, slicesOf } from "./slices.rules.ts";

const ATTRIBUTES_TOGETHER_MAX = 5000;

const utf8 = new TextEncoder();

/** Stores attributes of a run. `name` names the write: a repeat stores nothing. */
export async function writeAttributes(
  { ingest }: Pick<CommitClients, "ingest">,
  callWithRetry: CallWithRetry,
  runId: string,
  name: string,
  attributes: readonly SourceAttribute[],
): Promise<void> {
  const weightOf = ({ value, summary }: SourceAttribute): number => 2 * (value.length + summary.length);
  const slices = slicesOf(attributes, ATTRIBUTES_TOGETHER_MAX, BYTES_TOGETHER_MAX, weightOf);
  for (const [i, slice] of slices.entries()) {
    const messages = slice.map(({ path, type, step, timeUs, value, summary }) => ({
      path,
      type,
      ...(step === null ? {} : { step }),
      loggedAt: timeUs === null ? "" : timeText(timeUs),
      valueJson: utf8.encode(value),
      summaryJson: utf8.encode(summary),
    }));
    const request = { runId, attributes: messages, idempotencyKey: `${name}:${i}` };
    await callWithRetry((call) => ingest.appendAttributes(request, call));
  }
}

/** Writes microseconds since the epoch as RFC 3339 in UTC. */
function timeText(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const decimals = String(micros - seconds * 1_000_000).padStart(6, "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${decimals}Z`;
}
