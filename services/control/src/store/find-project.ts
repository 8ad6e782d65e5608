import { sql, type Tx } from "@tidemark/pg";
import { orMissingSchema } from "./missing-schema.ts";

const findProjectSql = sql(
  "control_find_project",
  "SELECT id, name FROM runs.project_refs_v1 WHERE org_id = $1 AND (id = $2 OR ($2 IS NULL AND name = $3))",
);

/**
 * A project of the organization by its id, or without one by its name. Projects belong to the runs
 * service, which shows other services this much of them.
 * @throws service_unavailable while that service has not set up its schema
 */
export async function findProject(
  tx: Tx,
  orgId: string,
  wanted: { id: string | undefined; name: string | undefined },
): Promise<{ id: string; name: string } | undefined> {
  try {
    return await tx.one(findProjectSql, [orgId, wanted.id ?? null, wanted.name ?? null]);
  } catch (error) {
    throw orMissingSchema(error, "projects");
  }
}
