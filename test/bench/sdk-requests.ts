import { randomUUID } from "node:crypto";
import type { Shot } from "./open-sender.ts";

// Requests as the uploader of `instantml` sends them, but for the new connection that it opens for each of them.

const headers = {
  accept: "application/json",
  "accept-encoding": "identity",
  "user-agent": "Python-urllib/3.11",
};

const hex32 = (): string => randomUUID().replaceAll("-", "");

/** One event of a run's queue, which has an idempotency key of its own. */
export function queuedEvent(path: string, runId: string, body: Shot["body"]): Shot {
  return { method: "POST", path, body, headers: { ...headers, "idempotency-key": `instantml-${runId}-${hex32()}` } };
}

/** One step of metrics out of the queue. */
export function queuedPoint(runId: string, body: Shot["body"]): Shot {
  return queuedEvent(`/runs/${runId}/metrics`, runId, body);
}

/** A batch of points of a run, whose idempotency key is a SHA-256 in hexadecimal digits. */
export function queuedBatch(runId: string, body: Shot["body"]): Shot {
  const key = `instantml-batch-${hex32()}${hex32()}`;
  return {
    method: "POST",
    path: `/runs/${runId}/metrics/batch`,
    body,
    headers: { ...headers, "idempotency-key": key },
  };
}

/** The same request without an idempotency key, as `instantml` sends it in its sync mode. */
export function withoutKey(shot: Shot): Shot {
  const { "idempotency-key": _key, ...rest } = shot.headers ?? {};
  return { ...shot, headers: rest };
}
