import { workerData } from "node:worker_threads";
import { isAppError } from "@tidemark/errors";
import { createDb, sqlState, type DbOptions } from "@tidemark/pg";
import { answerTasks } from "@tidemark/threads";
import { tooBroad } from "./bounds.rules.ts";
import { findRuns, type RegexSearch } from "./find-runs.ts";
import type { ThreadData } from "./search-threads.ts";

// The entry of a search thread. It does one search at a time, over a connection that no other thread uses.

const { connection } = workerData as ThreadData;
const options: DbOptions = { ...connection, connectionsMax: 1 };
const db = createDb(options);

async function search(wanted: RegexSearch): Promise<readonly string[]> {
  try {
    return await findRuns(db, wanted);
  } catch (error) {
    // PostgreSQL cancels a statement that takes too long.
    throw isAppError(error) && sqlState(error.cause) === "57014" ? tooBroad() : error;
  }
}

answerTasks<RegexSearch, readonly string[]>(async (wanted) => ({ value: await search(wanted) }), { yields: true });
