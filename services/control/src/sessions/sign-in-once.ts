import { issueCredential, parseCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { enterOrganization } from "../organizations/organizations.sql.ts";
import { announceChange } from "../projection/commit-projection-change.ts";
import { insertOneTimeToken, takeOneTimeToken } from "./one-time-tokens.sql.ts";
import { openSession } from "./open-session.ts";

/** How long a token is valid. */
const TOKEN_MS = 10 * 60_000;

/** Creates a token that opens one session of a member, and returns its text. */
export async function issueOneTimeToken(
  tx: Tx,
  { randomBytes, now }: Pick<ControlDeps, "randomBytes" | "now">,
  member: { readonly orgId: string; readonly userId: string },
): Promise<string> {
  const { id, hash, text } = issueCredential("one_time", randomBytes);
  const begin = now();
  const expiresAt = new Date(begin.getTime() + TOKEN_MS);
  await insertOneTimeToken(tx, { ...member, credentialId: id, hash, now: begin, expiresAt });
  return text;
}

/**
 * Opens the one session that a token is valid for.
 * @throws unauthenticated for a token that was used, is too old, or never existed
 */
export function signInOnce(deps: ControlDeps): ControlHandlers["signInOnce"] {
  return async ({ token }) => {
    const credential = parseCredential(token);
    if (credential?.kind !== "one_time") throw invalid();
    const created = await deps.db.transaction(async (tx) => {
      const member = await takeOneTimeToken(tx, credential, deps.now());
      if (member === undefined) throw invalid();
      await enterOrganization(tx, member.orgId);
      const session = await openSession(tx, deps, member);
      await announceChange(tx, member.orgId);
      return session;
    });
    deps.wakeRelay();
    return { created };
  };
}

function invalid(): AppError {
  return new AppError("unauthenticated", "invalid or expired credentials");
}
