import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";

type Sender = Pick<Identity, "kind" | "credentialId" | "userId" | "projectId">;

/**
 * Whether an archive that one caller sent also belongs to another: the same API key, whose sessions count as the key, or the same user, in the same
 * project. Any other caller with the `Idempotency-Key` makes a different request: the answer names projects and ids that this caller may not see.
 */
export function isSameSender(one: Sender, other: Sender): boolean {
  return one.kind === other.kind && one.projectId === other.projectId && nameOf(one) === nameOf(other);
}

function nameOf({ kind, userId, credentialId }: Sender): string {
  return kind === CallerKind.SESSION ? userId : credentialId;
}
