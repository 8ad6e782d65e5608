import { createServer } from "node:net";
import { startError } from "@tidemark/local";

/** Makes sure that the port can be listened on, before anything slow begins. @throws StartError in one line. */
export async function checkPort(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen(port, host, resolve);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw startError(`port ${port} is in use: choose another with --port`);
    if (code === "EACCES")
      throw startError(`port ${port} may not be used by this user: choose one above 1023 with --port`);
    throw startError(`port ${port} cannot be used: ${(error as Error).message}`);
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()));
  }
}
