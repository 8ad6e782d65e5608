import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import { threadId } from "node:worker_threads";

// Below the range from which operating systems take the ports of outgoing connections (32768 and up on Linux, 49152 and up
// on macOS): a free port in that range is soon taken.
const FIRST = 15_000;
const LAST = 32_000;
/**
 * Each thread has its own part of the range, by its id and that of its process: otherwise those that start servers simultaneously would sometimes
 * return the same port. A thread that has used up its part takes ports of the others.
 */
const PARTS = 68;
const PART = (LAST - FIRST) / PARTS;
const TRIES_MAX = 200;
/** The ports that this thread has returned: there may be no listener on them yet. */
const given = new Set<number>();

/**
 * Returns a TCP port of 127.0.0.1 that was free a moment ago, that this thread has not returned before, and that no outgoing
 * connection takes by chance. Another server may still take it before the caller does, so a caller that must not fail
 * tries again with another port.
 */
export async function freePort(): Promise<number> {
  const own = FIRST + ((process.pid + threadId) % PARTS) * PART;
  for (let tries = 0; tries < 2 * TRIES_MAX; tries += 1) {
    const port = tries < TRIES_MAX ? randomInt(own, own + PART) : randomInt(FIRST, LAST);
    if (given.has(port) || !(await isPortFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

/** Whether a server can listen on a TCP port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port);
    await new Promise((resolve) => server.close(resolve));
    return true;
  } catch {
    return false;
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
}
