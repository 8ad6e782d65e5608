import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential, keyPrefixLength, type Scope } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import type { NewApiKeySchema } from "@tidemark/proto/control/v1/control";
import { insertApiKey } from "../store/insert-api-key.ts";
import type { ControlDeps } from "./deps.ts";
import { encodeApiKey, encodeServiceAccount } from "./encode-api-key.ts";

/** Makes a key in the transaction; the answer is the only place where its text is. */
export async function issueKey(
  tx: Tx,
  { newId, randomBytes, now }: ControlDeps,
  key: {
    orgId: string;
    name: string;
    scopes: readonly Scope[];
    projectId?: string | undefined;
    createdByUserId?: string | undefined;
    expiresAt?: string | undefined;
  },
): Promise<MessageInitShape<typeof NewApiKeySchema>> {
  const credential = issueCredential("api_key", randomBytes);
  const made = await insertApiKey(tx, {
    orgId: key.orgId,
    id: newId(),
    serviceAccountId: newId(),
    credentialId: credential.id,
    hash: credential.hash,
    keyPrefix: credential.text.slice(0, keyPrefixLength),
    name: key.name,
    scopes: key.scopes,
    projectId: key.projectId,
    createdByUserId: key.createdByUserId,
    expiresAt: key.expiresAt,
    now: now(),
  });
  return {
    plaintext: credential.text,
    key: encodeApiKey(made.key),
    serviceAccount: encodeServiceAccount(made.account),
  };
}
