import { badRequest } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { idempotencyHashes, withIdempotency, type Db, type Tx } from "@tidemark/pg";

/** Content that is stored once under the name of a request. */
type NamedWork = {
  readonly orgId: string;
  readonly name: string;
  /** Identifies the content: the same name has the same content. */
  readonly parts: readonly (string | Uint8Array)[];
};

const ROUTE = "restore";
const NOTHING = new Uint8Array();

/** Runs work once for a name, in one transaction with the record of the name. @throws bad_request, idempotency_key_reused, idempotency_in_progress */
export async function restoreOnce(
  db: Db,
  { orgId, name, parts }: NamedWork,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const request = { key: requireName(name), route: ROUTE, parts };
  await withIdempotency(
    db,
    orgId,
    request,
    () => Promise.resolve(),
    async (tx) => {
      await work(tx);
      return NOTHING;
    },
  );
}

/** Returns the hashes of a part of a request that is stored separately. @throws bad_request */
export function hashesOfPart(name: string, parts: readonly (string | Uint8Array)[]) {
  return idempotencyHashes({ key: requireName(name), route: ROUTE, parts });
}

function requireName(name: string): string {
  if (name.length < 1 || name.length > RESTORE_LIMITS.nameCharactersMax) {
    throw badRequest(`name must have 1 to ${RESTORE_LIMITS.nameCharactersMax} characters`, "name");
  }
  return name;
}
