import { rm } from "node:fs/promises";

/** Deletes what shared stacks left, whose processes ended with the workers; stops the PostgreSQL of this test run and deletes its data. */
export default async function stopTestServer(): Promise<void> {
  const stacks = globalThis.tidemarkTestStacks;
  // Processes that have just been killed may still write.
  if (stacks !== undefined) await rm(stacks, { recursive: true, force: true, maxRetries: 10 });
  const running = globalThis.tidemarkTestPostgres;
  if (running === undefined) return;
  await running.server.stop();
  await rm(running.directory, { recursive: true, force: true });
}
