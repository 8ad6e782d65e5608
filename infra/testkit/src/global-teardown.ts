import { rm } from "node:fs/promises";

/** Stops the PostgreSQL of this test run and deletes its data. */
export default async function stopTestServer(): Promise<void> {
  const running = globalThis.tidemarkTestPostgres;
  if (running === undefined) return;
  await running.server.stop();
  await rm(running.directory, { recursive: true, force: true });
}
