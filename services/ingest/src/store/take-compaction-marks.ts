import { sql, type Db } from "@tidemark/pg";

/** Taken at once. */
const MARKS_MAX = 1000;

const takeMarks = sql(
  "ingest_take_compaction_marks",
  `DELETE FROM ingest.compaction_marks m
   USING (SELECT org_id, kind, run_id, part, id FROM ingest.compaction_marks
          WHERE kind = ANY ($1::text[]) ORDER BY org_id, kind, run_id, part, id LIMIT $2) taken
   WHERE m.org_id = taken.org_id AND m.kind = taken.kind AND m.run_id = taken.run_id AND m.part = taken.part
     AND m.id = taken.id
   RETURNING m.org_id AS "orgId", m.kind, m.run_id AS "runId", m.part, m.due_at AS "dueAt"`,
);

// Sorted, so that two workers lock the rows in the same order.
const putWork = sql(
  "ingest_put_compaction_work",
  `INSERT INTO ingest.compaction_work AS w (org_id, kind, run_id, part, due_at, marked_at)
   SELECT m.org_id, m.kind, m.run_id, m.part, min(m.due_at), now()
   FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[]) AS m (org_id, kind, run_id, part, due_at)
   GROUP BY m.org_id, m.kind, m.run_id, m.part
   ORDER BY m.org_id, m.kind COLLATE "C", m.run_id, m.part COLLATE "C"
   ON CONFLICT (org_id, kind, run_id, part)
   DO UPDATE SET due_at = least(w.due_at, excluded.due_at), marked_at = excluded.marked_at`,
);

type Mark = { orgId: string; kind: string; runId: string; part: string; dueAt: string };

/** Makes work of all marks of these kinds, in transactions that lose none. `db` runs as the worker. */
export async function takeCompactionMarks(db: Db, kinds: readonly string[]): Promise<void> {
  for (;;) {
    const taken = await db.transaction(async (tx) => {
      const marks = await tx.rows<Mark>(takeMarks, [kinds, MARKS_MAX]);
      if (marks.length > 0) {
        const column = (name: keyof Mark) => marks.map((mark) => mark[name]);
        await tx.rows(putWork, [column("orgId"), column("kind"), column("runId"), column("part"), column("dueAt")]);
      }
      return marks.length;
    });
    if (taken < MARKS_MAX) return;
  }
}
