import { setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "@tidemark/errors";
import { createDb, sqlState, type DbOptions } from "@tidemark/pg";
import { tooBroad } from "./bounds.rules.ts";
import { findRuns } from "./find-runs.ts";
import type { ThreadAnswer, ThreadData, ThreadTask } from "./search-threads.ts";

// The entry of a search thread. It does one search at a time, over a connection that no other thread uses.

const { connection } = workerData as ThreadData;
const options: DbOptions = { ...connection, connectionsMax: 1 };
const db = createDb(options);
// On Linux each thread has a priority: other requests go first.
if (platform === "linux") setPriority(5);

async function answer({ number, search }: ThreadTask): Promise<ThreadAnswer> {
  try {
    return { number, ids: await findRuns(db, search) };
  } catch (error) {
    // PostgreSQL cancels a statement that takes too long.
    const fault = isAppError(error) && sqlState(error.cause) === "57014" ? tooBroad() : error;
    if (!isAppError(fault)) {
      return { number, failure: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) };
    }
    const { reason, message, field, position, retryAfterSeconds } = fault;
    return { number, fault: { reason, message, field, position, retryAfterSeconds } };
  }
}

parentPort?.on("message", (task: ThreadTask) => {
  void answer(task).then((reply) => parentPort?.postMessage(reply));
});
