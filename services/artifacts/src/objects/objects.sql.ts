import { AppError, isAppError } from "@tidemark/errors";
import { sql, sqlState, type Tx } from "@tidemark/pg";

/** An object whose bytes have arrived and were measured. `sha256` has 32 bytes. */
export type WrittenObject = { readonly objectId: string; readonly sizeBytes: number; readonly sha256: Uint8Array };

const reserve = sql(
  "artifacts_reserve_objects",
  `INSERT INTO artifacts.objects (org_id, id, sweep_after)
   SELECT $1, o.id, now() + $3 * interval '1 second' FROM unnest($2::uuid[]) AS o (id)`,
);

/** Makes rows of objects that are about to be written; they are swept after this many seconds unless a row refers to them by then. */
export async function reserveObjects(
  tx: Tx,
  orgId: string,
  objectIds: readonly string[],
  sweepAfterSeconds: number,
): Promise<void> {
  await tx.rows(reserve, [orgId, objectIds, sweepAfterSeconds]);
}

/** SQLSTATE of `artifacts.keep_objects`. */
const GIVEN_UP = "TM002";

const keep = sql("artifacts_keep_objects", "SELECT wanted, kept FROM artifacts.keep_objects($1, $2, $3, $4)");

/**
 * Turns written objects into stored ones and adds a reference to each. Returns for each the object that now holds its bytes: itself, or one of the
 * organization with the same content.
 * @throws service_unavailable when an object was given up in the meantime: the upload took too long
 */
export async function keepObjects(
  tx: Tx,
  orgId: string,
  written: readonly WrittenObject[],
): Promise<ReadonlyMap<string, string>> {
  try {
    const rows = await tx.rows<{ wanted: string; kept: string }>(keep, [
      orgId,
      written.map(({ objectId }) => objectId),
      written.map(({ sizeBytes }) => sizeBytes),
      written.map(({ sha256 }) => sha256),
    ]);
    return new Map(rows.map(({ wanted, kept }) => [wanted, kept]));
  } catch (error) {
    if (sqlState(error) !== GIVEN_UP) throw error;
    throw new AppError("service_unavailable", "the upload took too long; try again", {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

/** Returns whether an error of `keepObjects` says that an object was given up, which no retry with the same objects changes. */
export function isGivenUp(error: unknown): boolean {
  return isAppError(error) && sqlState(error.cause) === GIVEN_UP;
}

const release = sql("artifacts_release_objects", "SELECT artifacts.release_objects($1, $2, $3) AS settled");

/**
 * Removes a reference from each object, as often as it is named. Objects without references owe `owedBytes` of the organization's bytes of deleted things
 * until their own bytes are gone; returns how many of these bytes are not owed, because other rows use the same object.
 */
export async function releaseObjects(
  tx: Tx,
  orgId: string,
  released: readonly { readonly objectId: string; readonly owedBytes: number }[],
): Promise<number> {
  const row = await tx.one<{ settled: number }>(release, [
    orgId,
    released.map(({ objectId }) => objectId),
    released.map(({ owedBytes }) => owedBytes),
  ]);
  return row!.settled;
}

const giveUp = sql(
  "artifacts_give_up_objects",
  `UPDATE artifacts.objects SET state = 'unneeded' WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND state = 'arriving'`,
);

/** Marks objects as not to be stored. Their bytes are removed when no address to write to them is valid any more. */
export async function giveUpObjects(tx: Tx, orgId: string, objectIds: readonly string[]): Promise<void> {
  await tx.rows(giveUp, [orgId, objectIds]);
}
