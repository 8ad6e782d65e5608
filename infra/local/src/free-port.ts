import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

// Below the range from which operating systems take the ports of outgoing connections (32768 and
// up on Linux, 49152 and up on macOS): there a port that was free is soon somebody's.
const FIRST = 15_000;
const LAST = 32_000;
/**
 * Each process has a part of the range of its own, by its id, because processes that start servers at one time would give out the same port now
 * and then; where its part is used up, it takes the others'.
 */
const PARTS = 68;
const PART = (LAST - FIRST) / PARTS;
const TRIES_MAX = 200;
/** What this process has given out: what was asked for is not listened on at once. */
const given = new Set<number>();

/**
 * A TCP port of 127.0.0.1 that nobody listened on a moment ago, that this process has not given out before, and that no outgoing connection
 * will take by chance. Another server may still take it before the caller does, so a caller that
 * must not fail tries again with another one.
 */
export async function freePort(): Promise<number> {
  const own = FIRST + (process.pid % PARTS) * PART;
  for (let tries = 0; tries < 2 * TRIES_MAX; tries += 1) {
    const port = tries < TRIES_MAX ? randomInt(own, own + PART) : randomInt(FIRST, LAST);
    if (given.has(port) || !(await isPortFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

/** Whether a TCP port of 127.0.0.1 can be listened on just now. */
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
