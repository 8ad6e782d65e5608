import { setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort, type Transferable } from "node:worker_threads";
import { isAppError, type AppError } from "@tidemark/errors";

/** A value sent into or out of a thread, and the parts of it that are transferred instead of copied. */
export type Sent<Value> = { readonly value: Value; readonly transfer?: readonly Transferable[] };

/** A message to a thread. */
export type Question<Task> = { readonly number: number; readonly task: Task };

/** The answer to a task: its result, an error for the caller, or an error for the log. */
export type Reply<Result> =
  | { readonly number: number; readonly result: Result }
  | {
      readonly number: number;
      readonly fault: Pick<AppError, "reason" | "message" | "field" | "position" | "retryAfterSeconds">;
    }
  | { readonly number: number; readonly failure: string };

/**
 * In the entry of a thread of `createThreads`: answers its tasks. An error of `work` is thrown where the task was given. With `yields`, which works on Linux
 * only, all other work of the machine takes precedence.
 */
export function answerTasks<Task, Result>(
  work: (task: Task) => Promise<Sent<Result>>,
  { yields = false }: { readonly yields?: boolean } = {},
): void {
  if (yields && platform === "linux") setPriority(5);
  parentPort?.on("message", ({ number, task }: Question<Task>) => {
    void work(task).then(
      ({ value, transfer = [] }) =>
        parentPort?.postMessage({ number, result: value } satisfies Reply<Result>, transfer),
      (error: unknown) => parentPort?.postMessage(refusal(number, error)),
    );
  });
}

function refusal(number: number, error: unknown): Reply<never> {
  if (!isAppError(error)) {
    return { number, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const { reason, message, field, position, retryAfterSeconds } = error;
  return { number, fault: { reason, message, field, position, retryAfterSeconds } };
}
