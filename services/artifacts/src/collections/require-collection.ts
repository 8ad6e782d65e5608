import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { canSee, type Caller } from "@tidemark/requests";
import { findOwnerOfCollection } from "./collections.sql.ts";

/** The name of a collection in errors. */
export const COLLECTION = "artifact collection";

/** @throws not_found unless the collection exists and the caller may see it */
export async function requireCollection(tx: Tx, caller: Caller, collectionId: string): Promise<void> {
  const owner = await findOwnerOfCollection(tx, caller.orgId, collectionId);
  if (owner === undefined || !canSee(caller, owner)) throw notFound(COLLECTION);
}
