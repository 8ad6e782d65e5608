import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { NewSessionSchema } from "@tidemark/proto/control/v1/control";
import { sessionEnd, sessionSeconds } from "../domain/sessions.ts";
import { insertSession } from "../store/insert-session.ts";
import type { ControlDeps } from "./deps.ts";
import { viewSession } from "./view-session.ts";

/**
 * Makes a session of an active member; the transaction has entered the organization.
 * @throws forbidden when the user is no active member
 */
export async function openSession(
  tx: Tx,
  { newId, randomBytes, now }: ControlDeps,
  member: { orgId: string; userId: string },
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  const credential = issueCredential("session", randomBytes);
  const begin = now();
  const session = await insertSession(tx, {
    orgId: member.orgId,
    id: newId(),
    userId: member.userId,
    credentialId: credential.id,
    hash: credential.hash,
    now: begin,
    expiresAt: sessionEnd(begin),
  });
  const view = await viewSession(tx, session);
  if (view === undefined) throw new AppError("forbidden", "the user is no active member of the organization");
  return { view, token: credential.text, maxAgeSeconds: sessionSeconds };
}
