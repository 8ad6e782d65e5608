import { randomUUID } from "node:crypto";
import type { Identity } from "@tidemark/proto/common/v1/common";

/** What accompanies a request through every process that it passes. */
export type Call = {
  /** The `x-request-id` of the answer; in every log line. */
  readonly requestId: string;
  /** Who asks; undefined on routes that need no credentials and for calls a process makes for itself. */
  readonly identity: Identity | undefined;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  /** W3C `traceparent` of the caller's span. */
  readonly traceparent: string | undefined;
};

/** Milliseconds that a call may take when nobody says otherwise. */
export const callTimeoutMs = 10_000;

/** Starts a call: the gateway for a request, a process for its own work. */
export function createCall(options: Partial<Omit<Call, "deadlineMs">> & { timeoutMs?: number } = {}): Call {
  return {
    requestId: options.requestId ?? randomUUID(),
    identity: options.identity,
    deadlineMs: Date.now() + (options.timeoutMs ?? callTimeoutMs),
    traceparent: options.traceparent,
  };
}
