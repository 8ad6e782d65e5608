import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Tx } from "@tidemark/pg";
import type { SessionViewSchema } from "@tidemark/proto/control/v1/control";
import { findMembership } from "../store/find-membership.ts";
import { findOrganization } from "../store/find-organization.ts";
import { findUser } from "../store/find-user.ts";
import { listMembershipsOfUser } from "../store/list-memberships-of-user.ts";
import type { SessionRow } from "../store/rows-sessions.ts";
import { encodeMembership, encodeMembershipSummaries, encodeOrganization, encodeUser } from "./encode-organization.ts";
import { encodeSession } from "./encode-session.ts";

/**
 * A session with what the dashboard shows of it; `undefined` when its organization was deleted or its
 * user is no active member. The transaction has entered the session's organization.
 */
export async function viewSession(
  tx: Tx,
  session: SessionRow,
): Promise<MessageInitShape<typeof SessionViewSchema> | undefined> {
  const user = await findUser(tx, session.user_id);
  const organization = await findOrganization(tx, session.org_id);
  const membership = await findMembership(tx, session.org_id, session.user_id);
  if (user === undefined || organization === undefined || membership?.status !== "active") return undefined;
  return {
    session: encodeSession(session),
    user: encodeUser(user),
    organization: encodeOrganization(organization),
    membership: encodeMembership(membership),
    memberships: encodeMembershipSummaries(await listMembershipsOfUser(tx, user.id), session.org_id),
  };
}
