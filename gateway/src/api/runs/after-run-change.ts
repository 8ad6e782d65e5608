import { createCall, type Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";

/** Milliseconds that a change waits until the process that answers stop signals knows of it. */
const PATIENCE_MS = 1000;

/**
 * Waits until the control service knows that a run's status has changed, so that the next stop signal
 * shows it. The change is already stored: a control service that does not answer learns of it by itself.
 */
export async function afterRunChange<T>(change: Promise<T>, clients: Clients, call: Call): Promise<T> {
  const result = await change;
  const { requestId, traceparent, deadlineMs } = call;
  const timeoutMs = Math.min(PATIENCE_MS, deadlineMs - Date.now());
  await clients.control.catchUpRuns({}, createCall({ requestId, traceparent, timeoutMs })).catch(() => {});
  return result;
}
