import { Client } from "pg";
import { rounds, until } from "@tidemark/testkit";
import type { OwnStack } from "./stack.ts";

/**
 * Kills `ingest` while its compactor is in the middle of writing to this table of the schema `ingest`, and starts it again. The table is locked
 * until the compactor waits for it, so that it is never killed before or after its work by chance. With `isKept` PostgreSQL then continues
 * with the statement that it received and commits it, else it notices that its client is gone and rolls it back. Claimed work is due again
 * immediately instead of in 15 s, so that the next kill finds a claim of the new process.
 */
async function killWhileCompacting(stack: OwnStack, table: string, isKept: boolean): Promise<void> {
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

const KILLS = rounds(5);

/** The load while a compactor is killed. */
export type KillLoad = {
  readonly writers: number;
  /** Resolves when the write, one after the other of its writer, is acknowledged. */
  readonly write: (writer: number, request: number) => Promise<void>;
  /** Compares the readable data with the acknowledged data. */
  readonly read: () => Promise<void>;
  /** How much was acknowledged so far, and how much more shall be before each kill. */
  readonly acknowledged: () => number;
  readonly apart: number;
};

/**
 * Kills again and again as `killWhileCompacting` does, kept and dropped by turns, while writers and a reader continue, and ends these.
 * @throws what fails first of them
 */
export async function killUnderLoad(stack: OwnStack, table: string, load: KillLoad): Promise<void> {
  let isOn = true;
  const writing = async (_: unknown, writer: number): Promise<void> => {
    for (let request = 0; isOn; request += 1) await load.write(writer, request);
  };
  const reading = async (): Promise<void> => {
    while (isOn) await load.read();
  };
  const kills = async (): Promise<void> => {
    for (let kill = 0; isOn && kill < KILLS; kill += 1) {
      const before = load.acknowledged();
      await until("some writes", () => load.acknowledged() > before + load.apart);
      await killWhileCompacting(stack, table, kill % 2 === 0);
    }
  };
  const going = Promise.all([...Array.from({ length: load.writers }, writing), reading()]);
  try {
    await Promise.race([kills(), going]);
  } finally {
    isOn = false;
    await Promise.allSettled([going]);
  }
  await going;
}
