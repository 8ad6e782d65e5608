import { create } from "@bufbuild/protobuf";
import { equalHashes, hashCredential } from "@tidemark/credentials";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { unauthenticated } from "./authorize.ts";

const operator: Identity = create(IdentitySchema, { kind: CallerKind.OPERATOR });

/** Checks the operator's token. @throws unauthenticated when it is missing or wrong, or the installation has none. */
export type OperatorCheck = (token: string | undefined) => Identity;

/** Makes the check. Hashes are compared, so that the time taken tells neither length nor content. */
export function createOperatorCheck(bootstrapToken: string | undefined): OperatorCheck {
  const expected = bootstrapToken === undefined ? undefined : hashCredential(bootstrapToken);
  return (token) => {
    if (expected === undefined || token === undefined || !equalHashes(expected, hashCredential(token))) {
      throw unauthenticated("invalid bootstrap token");
    }
    return operator;
  };
}
