import { equalHashes, parseCredential } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import { findCredential, type CredentialFacts } from "./projection.sql.ts";

/**
 * Returns the credential of a text, if it is of the kind and works at `now`: it was issued with this secret, it
 * is neither revoked nor expired, and its organization was not deleted. Returns undefined for every other text.
 */
export async function findLiveCredential(
  tx: Tx,
  kind: CredentialFacts["kind"],
  text: string,
  now: Date,
): Promise<CredentialFacts | undefined> {
  const credential = parseCredential(text);
  if (credential === undefined || credential.kind !== kind) return undefined;
  const found = await findCredential(tx, kind, credential.id);
  if (found === undefined || !equalHashes(found.hash, credential.hash)) return undefined;
  const expired = found.expires_at !== null && new Date(found.expires_at) <= now;
  return found.revoked || found.deleted || expired ? undefined : found;
}
