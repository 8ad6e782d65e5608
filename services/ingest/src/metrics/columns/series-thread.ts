import { setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort } from "node:worker_threads";
import { createColumnsReader, type ColumnsReader } from "./columns-reader.rules.ts";
import type { ThreadAnswer, ThreadTask } from "./series-threads.ts";

// The entry of a series thread. It does one read at a time.

let reader: ColumnsReader | undefined;
// On Linux each thread has a priority: other requests go first.
if (platform === "linux") setPriority(5);

function answer(task: ThreadTask): ThreadAnswer | undefined {
  if ("begin" in task) {
    reader = createColumnsReader(task.begin);
    return undefined;
  }
  if ("page" in task) {
    reader!.add(task.page);
    return { taken: true };
  }
  const built = reader!.finish();
  reader = undefined;
  return { built };
}

parentPort!.on("message", (task: ThreadTask) => {
  try {
    const reply = answer(task);
    if (reply !== undefined) parentPort!.postMessage(reply);
  } catch (error) {
    parentPort!.postMessage({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
