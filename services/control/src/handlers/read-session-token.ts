import { equalHashes, parseCredential } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import { findCredential } from "../store/find-credential.ts";
import type { CredentialFacts } from "../store/rows-projection.ts";

/** The living session that a cookie's text belongs to; `undefined` for every other text. */
export async function readSessionToken(tx: Tx, text: string, now: Date): Promise<CredentialFacts | undefined> {
  const credential = parseCredential(text);
  if (credential === undefined || credential.kind !== "session") return undefined;
  const found = await findCredential(tx, "session", credential.id);
  if (found === undefined || !equalHashes(found.hash, credential.hash)) return undefined;
  if (found.revoked || found.deleted || found.expires_at === null || new Date(found.expires_at) <= now)
    return undefined;
  return found;
}
