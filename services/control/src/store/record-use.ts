import { sql, type Tx } from "@tidemark/pg";

const recordUseSql = sql("control_record_use", "SELECT control.record_use($1, $2, $3)");

/** Notes when credentials were last used. */
export async function recordUse(
  tx: Tx,
  uses: readonly { kind: "api_key" | "session"; id: string; usedAt: string }[],
): Promise<void> {
  // In one order everywhere, so that two reports do not wait for each other.
  const sorted = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await tx.rows(recordUseSql, [
    sorted.map((use) => use.kind),
    sorted.map((use) => use.id),
    sorted.map((use) => use.usedAt),
  ]);
}
