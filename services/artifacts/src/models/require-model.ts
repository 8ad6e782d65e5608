import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { type Caller, canSee } from "@tidemark/requests";
import { lockModel, type ModelRow, readModels } from "./models.sql.ts";

/** The name of a logged model in errors. */
export const MODEL = "model";

/** Returns a model that the caller may see. @throws not_found */
export async function requireModel(tx: Tx, caller: Caller, id: string): Promise<ModelRow> {
  const [row] = await readModels(tx, caller.orgId, [id]);
  if (row === undefined || !canSee(caller, row)) throw notFound(MODEL);
  return row;
}

/** Locks a model that the caller may see, and returns it. @throws not_found */
export async function requireLocked(tx: Tx, caller: Caller, id: string): Promise<ModelRow> {
  const row = await lockModel(tx, caller.orgId, id);
  if (row === undefined || !canSee(caller, row)) throw notFound(MODEL);
  return row;
}
