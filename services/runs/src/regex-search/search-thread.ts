import { workerData } from "node:worker_threads";
import { isAppError } from "@tidemark/errors";
import { createDb, sqlState, type DbOptions } from "@tidemark/pg";
import { answerTasks } from "@tidemark/work";
import { tooBroad } from "../search/words.rules.ts";
import { findRuns, matchNames } from "./find-runs.ts";
import type { ThreadData, ThreadTask } from "./search-threads.ts";

// The entry of a search thread. It does one search at a time, over a connection that no other thread uses.

const { connection } = workerData as ThreadData;
const options: DbOptions = { ...connection, connectionsMax: 1 };
const db = createDb(options);

async function search(wanted: ThreadTask): Promise<readonly string[]> {
  try {
    return "names" in wanted ? matchNames(wanted) : await findRuns(db, wanted);
  } catch (error) {
    // PostgreSQL cancels a statement that takes too long.
    throw isAppError(error) && sqlState(error.cause) === "57014" ? tooBroad() : error;
  }
}

answerTasks<ThreadTask, readonly string[]>(async (wanted) => ({ value: await search(wanted) }), { yields: true });
