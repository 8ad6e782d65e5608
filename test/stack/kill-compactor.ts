import { Client } from "pg";
import type { Stack } from "./stack.ts";
import { until } from "./until.ts";

/**
 * Kills `ingest` while its compactor is in the middle of writing to this table of the schema `ingest`, and starts it again. The table is locked
 * until the compactor waits for it, so that it is never killed before or after its work by chance. With `isKept` PostgreSQL then goes on
 * with the statement that it was told and keeps it, else it finds its client gone and drops it. What was claimed is due again at once instead
 * of in 15 s, so that the next kill finds a claim of the new process.
 */
export async function killWhileCompacting(stack: Stack, table: string, isKept: boolean): Promise<void> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const isWaiting = async (): Promise<boolean> => {
    const waiting = "SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted";
    return (await client.query(waiting, [`ingest.${table}`])).rowCount! > 0;
  };
  try {
    await client.query(`BEGIN; LOCK TABLE ingest.${table} IN EXCLUSIVE MODE`);
    await until(`a compactor to write to ${table}`, isWaiting);
    await stack.children.get("ingest")!.end("SIGKILL");
    if (!isKept) await until("PostgreSQL to find its client gone", async () => !(await isWaiting()));
    await client.query("COMMIT");
    await client.query(
      "UPDATE ingest.compaction_work SET claimed_until = now(), due_at = now() WHERE claimed_until > now()",
    );
  } finally {
    await client.end();
  }
  await stack.restart("ingest");
}
