import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { explainFailure, startError } from "./toolcache/failures.mjs";
import { tryLock } from "./toolcache/lock.mjs";

/** The right to a folder, until it is released or this process ends. */
export type Claim = { release(): Promise<void> };

/**
 * Makes a data folder, readable for its owner only, and claims it for this process. The claim of a process that has ended
 * does not count.
 *
 * @throws StartError in one line when a running Tidemark has claimed it, or when it cannot be written
 */
export async function claimFolder(folder: string): Promise<Claim> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const attempt = await tryLock(join(folder, "in-use.lock"));
    if ("lock" in attempt) return attempt.lock;
    const who = attempt.holder === undefined ? "" : ` (process ${attempt.holder.pid} on ${attempt.holder.host})`;
    throw startError(
      `the data folder ${folder} is in use by another Tidemark${who}: stop that one, or choose another folder`,
    );
  } catch (error) {
    throw unusableFolder(folder, error);
  }
}

/** Returns the same error, or a StartError that says why the operating system refused the folder. */
export function unusableFolder(folder: string, error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("code" in error)) return error;
  const code = String(error.code);
  const cause = explainFailure(code === "EEXIST" ? "ENOTDIR" : code);
  return cause === undefined ? error : startError(`the data folder ${folder} cannot be used: ${cause}`, error);
}
