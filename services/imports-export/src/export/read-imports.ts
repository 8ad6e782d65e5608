import { EXPORT_LIMITS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import { encodeJob } from "../jobs/get-job.ts";
import { listJobParts, listJobsById, listImportsOfRuns } from "../jobs/jobs.sql.ts";
import { newestImports, type ImportOfRuns } from "./export-limits.rules.ts";
import type { Part } from "./reading.ts";

/** Imports that are read together, and the chunks that each import names. */
const TOGETHER = 50;
const CHUNKS = 100;

/** Finds the newest imports that stored runs or added to them, and returns whether an export leaves others out. */
export async function findImports(
  db: Db,
  orgId: string,
  runIds: readonly string[],
): Promise<ReturnType<typeof newestImports>> {
  const { imports: max } = EXPORT_LIMITS;
  const found = await db.readTenant(orgId, (tx) => listImportsOfRuns(tx, orgId, runIds, max + 1), { plans: "walks" });
  return newestImports(found, max);
}

/** Reads imports, newest first, each with its runs that the export has. */
export async function* exportImports(db: Db, orgId: string, imports: readonly ImportOfRuns[]): AsyncGenerator<Part> {
  for (let at = 0; at < imports.length; at += TOGETHER) {
    const some = imports.slice(at, at + TOGETHER);
    const ids = some.map(({ jobId }) => jobId);
    const runsOf = new Map(some.map(({ jobId, runIds }) => [jobId, runIds]));
    const jobs = await db.readTenant(
      orgId,
      async (tx) => {
        const rows = await listJobsById(tx, orgId, ids);
        const parts = new Map((await listJobParts(tx, orgId, ids, CHUNKS)).map((part) => [part.id, part]));
        return rows.map((row) => {
          const { chunkIds } = parts.get(row.id)!;
          return encodeJob(row, { chunkIds, runIds: runsOf.get(row.id)! });
        });
      },
      { plans: "walks" },
    );
    yield { case: "imports", value: { jobs } };
  }
}
