import { createServer, type Server } from "node:net";

/**
 * A TCP port of 127.0.0.1 that nobody listened on a moment ago. Somebody else may take it before the caller does, so a
 * caller that must not fail tries again with another one.
 */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
  return address.port;
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
