import { plannedSql } from "@tidemark/pg";
import type { RunsFixture } from "../runs.fixture.ts";

/** Does `work` while no search can read texts; `release` ends the lock early. */
export async function whileTextsAreLocked(
  { owner }: RunsFixture,
  work: (release: () => void) => Promise<void>,
): Promise<void> {
  const lock = plannedSql("test_lock", "LOCK TABLE runs.run_texts IN ACCESS EXCLUSIVE MODE");
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let working: Promise<void> = Promise.resolve();
  await owner.transaction(async (tx) => {
    await tx.rows(lock, []);
    working = work(release).finally(release);
    await released;
  });
  await working;
}

/** Cancels the statement of an application that waits for the texts, as PostgreSQL does on a statement time-out. */
export async function cancelWaiting({ owner }: RunsFixture, application: string): Promise<void> {
  const cancel = plannedSql(
    "test_cancel",
    `SELECT pg_cancel_backend(pid) AS cancelled FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`,
  );
  // A statement waits for 3 s at most.
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await owner.rows(cancel, [application])).length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}
