import { deadlineExceeded, underDeadline } from "@tidemark/work";
import type { Call } from "./call.ts";

/** Called with every call that ends, for metrics and traces. */
export type CallObserver = (facts: {
  service: string;
  method: string;
  side: "client" | "server";
  seconds: number;
  error: unknown;
}) => void;

/** Waits for `work`, which knows the call's deadline, its organization, and whether the caller left, at most until then. @throws deadline_exceeded */
export async function withinDeadline<T>(call: Call, work: () => Promise<T>): Promise<T> {
  const left = call.deadlineMs - Date.now();
  if (left <= 0) throw deadlineExceeded();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      underDeadline(call.deadlineMs, work, { left: call.left, orgId: call.identity?.orgId }),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(deadlineExceeded()), left);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `work` and reports to the observer how it ended. */
export async function observed<T>(
  observer: CallObserver | undefined,
  facts: { service: string; method: string; side: "client" | "server" },
  work: () => Promise<T>,
): Promise<T> {
  if (observer === undefined) return work();
  const started = performance.now();
  let error: unknown;
  try {
    return await work();
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    observer({ ...facts, seconds: (performance.now() - started) / 1000, error });
  }
}

/**
 * Passes on the messages of a stream until the call's deadline, and reports to the observer how it ended. A reader that stops ends the stream.
 * @throws deadline_exceeded
 */
export async function* streamed<T>(
  call: Call,
  observer: CallObserver | undefined,
  facts: { service: string; method: string; side: "client" | "server" },
  open: () => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const started = performance.now();
  let error: unknown;
  let messages: AsyncGenerator<T, void, undefined> | undefined;
  try {
    messages = open();
    for (;;) {
      const from = messages;
      const { done, value } = await withinDeadline(call, () => from.next());
      if (done === true) return;
      yield value;
    }
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    // Not awaited: after a deadline the handler may still be waiting for something. The call already has its outcome.
    messages?.return().catch(() => {});
    observer?.({ ...facts, seconds: (performance.now() - started) / 1000, error });
  }
}
