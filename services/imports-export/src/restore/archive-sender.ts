import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";

type Sender = Pick<Identity, "kind" | "credentialId" | "userId" | "projectId">;

/**
 * Whether an archive that one sent is the other's as well: the same API key, whose sessions count as the key, or the same user, within the same
 * project. Whoever else uses the `Idempotency-Key` asks for something else: the answer names projects and ids that this caller may not see.
 */
export function isSameSender(one: Sender, other: Sender): boolean {
  return one.kind === other.kind && one.projectId === other.projectId && nameOf(one) === nameOf(other);
}

function nameOf({ kind, userId, credentialId }: Sender): string {
  return kind === CallerKind.SESSION ? userId : credentialId;
}
