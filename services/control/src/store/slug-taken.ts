import { sql, type Tx } from "@tidemark/pg";

const slugTakenSql = sql("control_slug_taken", "SELECT control.slug_taken($1) AS taken");

/** Whether any organization has this short name. */
export async function slugTaken(tx: Tx, slug: string): Promise<boolean> {
  return (await tx.one<{ taken: boolean }>(slugTakenSql, [slug]))!.taken;
}
