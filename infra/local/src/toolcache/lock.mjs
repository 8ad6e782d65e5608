import { open, readFile, stat, unlink, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { isProcessAlive, processIdentity } from "./process-identity.mjs";

/** @typedef {import("./process-identity.mjs").ProcessIdentity} ProcessIdentity */
/** @typedef {{ release(): Promise<void> }} Lock */

const beatMs = 2000;
// More than two beats, so that a slow holder does not count as dead.
const silenceMs = 5000;
const pollMs = 100;

/**
 * Takes a lock file, or says who holds it. A lock of a dead process is taken over: immediately on the machine where the
 * process ran, after 5 s without a sign of life where it cannot be seen (another container, a shared disk).
 *
 * @param {string} path the lock file; its folder must exist
 * @returns {Promise<{ lock: Lock } | { holder: ProcessIdentity | undefined }>} `holder` is undefined when the file does not say
 */
export const tryLock = async (path) => {
  for (;;) {
    if (await createLockFile(path)) return { lock: heldLock(path) };
    const text = await readIfThere(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    const alive = holder === undefined ? "unknown" : isProcessAlive(holder);
    if (alive === true || (alive === "unknown" && (await showsLife(path, text)))) return { holder };
    await breakStale(path, text);
  }
};

/**
 * Runs a function while it holds a lock file; waits for the lock as long as necessary.
 *
 * @template T
 * @param {string} path the lock file; its folder must exist
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (holder: ProcessIdentity | undefined) => void, signal?: AbortSignal }} [options] `onWait` is called once, before the first wait
 * @returns {Promise<T>}
 */
export const withLock = async (path, work, { onWait, signal } = {}) => {
  let told = false;
  for (;;) {
    const attempt = await tryLock(path);
    if ("lock" in attempt) {
      try {
        return await work();
      } finally {
        await attempt.lock.release();
      }
    }
    if (!told) onWait?.(attempt.holder);
    told = true;
    await pause(pollMs, undefined, { signal });
  }
};

/** @param {string} path */
const createLockFile = async (path) => {
  const file = await open(path, "wx", 0o644).catch((error) => {
    if (error.code === "EEXIST") return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(JSON.stringify(processIdentity()));
  } catch (error) {
    await unlink(path);
    throw error;
  } finally {
    await file.close();
  }
  return true;
};

/**
 * @param {string} path
 * @returns {Lock}
 */
const heldLock = (path) => {
  const beat = setInterval(() => {
    const now = new Date();
    // One missed beat does no harm; after several, another process takes the lock.
    utimes(path, now, now).catch(() => {});
  }, beatMs);
  beat.unref();
  return {
    async release() {
      clearInterval(beat);
      await unlinkIfThere(path);
    },
  };
};

/**
 * Removes a stale lock file, but never one that another process has taken meanwhile: of the processes that found the same
 * file stale, one at a time checks again and removes it.
 *
 * @param {string} path
 * @param {string} staleText
 */
const breakStale = async (path, staleText) => {
  const breaker = `${path}.breaking`;
  const file = await open(breaker, "wx").catch((error) => {
    if (error.code === "EEXIST") return undefined;
    throw error;
  });
  if (file === undefined) {
    const made = await stat(breaker).catch(() => undefined);
    // A process that died within these few milliseconds must not block the others forever.
    if (made !== undefined && Date.now() - made.mtimeMs > 10 * silenceMs) await unlinkIfThere(breaker);
    await pause(pollMs);
    return;
  }
  try {
    if ((await readIfThere(path)) === staleText) await unlinkIfThere(path);
  } finally {
    await file.close();
    await unlinkIfThere(breaker);
  }
};

/**
 * Whether the holder touches the file within the time in which a living one does; false as soon as the file has changed or
 * disappeared, so that the caller checks again.
 *
 * @param {string} path
 * @param {string} text
 */
const showsLife = async (path, text) => {
  const before = await stat(path).catch(() => undefined);
  const deadline = performance.now() + silenceMs;
  while (performance.now() < deadline) {
    await pause(pollMs);
    const now = await stat(path).catch(() => undefined);
    if (now === undefined || (await readIfThere(path)) !== text) return false;
    if (now.mtimeMs !== before?.mtimeMs) return true;
  }
  return false;
};

/** @param {string} path */
const readIfThere = (path) =>
  readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });

/** @param {string} path */
const unlinkIfThere = (path) =>
  unlink(path).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });

/**
 * @param {string} text
 * @returns {ProcessIdentity | undefined}
 */
const parseHolder = (text) => {
  try {
    const value = JSON.parse(text);
    return Number.isInteger(value?.pid) ? value : undefined;
  } catch {
    return undefined;
  }
};
