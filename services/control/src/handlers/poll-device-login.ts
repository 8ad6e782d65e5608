import type { MessageInitShape } from "@bufbuild/protobuf";
import { equalHashes, parseCredential, type Scope } from "@tidemark/credentials";
import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { PollDeviceLoginResponseSchema } from "@tidemark/proto/control/v1/control";
import { judgePoll, pollIntervalSeconds } from "../domain/device-logins.ts";
import { isAdmin } from "../domain/roles.ts";
import { enterOrganization } from "../store/enter-organization.ts";
import { findMembership } from "../store/find-membership.ts";
import { findOrganization } from "../store/find-organization.ts";
import { findUser } from "../store/find-user.ts";
import { finishDeviceLogin } from "../store/finish-device-login.ts";
import { lockDeviceLogin } from "../store/lock-device-login.ts";
import { notePoll } from "../store/note-poll.ts";
import type { DeviceLoginRow } from "../store/rows-device-logins.ts";
import { announceChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization, encodeUser } from "./encode-organization.ts";
import { issueKey } from "./issue-key.ts";

/** What a key made by a device login may do: everything that the command line tool does. */
const deviceLoginScopes: readonly Scope[] = ["sdk:ingest", "artifacts:write", "imports:write", "export:read"];

type Answer = MessageInitShape<typeof PollDeviceLoginResponseSchema>;

/**
 * Tells a device how its login stands. The key is made here, when it is handed out, because nothing
 * but its hash may be stored; only one poll gets it.
 * @throws not_found for a code that was never given out; slow_down far below the interval
 */
export function pollDeviceLogin(deps: ControlDeps): ControlHandlers["pollDeviceLogin"] {
  return async ({ deviceCode }) => {
    const device = parseCredential(deviceCode);
    if (device === undefined || device.kind !== "device") throw notFound("device code");
    const answer = await deps.db.transaction(async (tx): Promise<Answer> => {
      const login = await lockDeviceLogin(tx, device.id);
      if (login === undefined || !equalHashes(login.hash, device.hash)) throw notFound("device code");
      const outcome = judgePoll(
        {
          status: login.status,
          expiresAt: new Date(login.expires_at),
          lastPolledAt: login.last_polled_at === null ? undefined : new Date(login.last_polled_at),
        },
        deps.now(),
      );
      if (outcome === "too_fast") {
        throw new AppError("slow_down", "wait for the interval between two polls", {
          retryAfterSeconds: pollIntervalSeconds,
        });
      }
      await notePoll(tx, device.id, deps.now());
      return outcome === "approved" ? handOut(tx, deps, login) : { status: outcome };
    });
    if (answer.created !== undefined) deps.nudge();
    return answer;
  };
}

/** Who approved must still be allowed to when the key is made. */
async function handOut(tx: Tx, deps: ControlDeps, login: DeviceLoginRow): Promise<Answer> {
  await finishDeviceLogin(tx, login.credential_id);
  const { org_id: orgId, user_id: userId } = login;
  if (orgId === null || userId === null) return { status: "denied" };
  await enterOrganization(tx, orgId);
  const organization = await findOrganization(tx, orgId);
  const membership = await findMembership(tx, orgId, userId);
  const user = await findUser(tx, userId);
  if (organization === undefined || user === undefined) return { status: "denied" };
  if (membership?.status !== "active" || !isAdmin(membership.role)) return { status: "denied" };
  const created = await issueKey(tx, deps, {
    orgId,
    name: "CLI device login",
    scopes: deviceLoginScopes,
    createdByUserId: userId,
  });
  await announceChange(tx, orgId);
  return {
    status: "authorized",
    created,
    organization: encodeOrganization(organization),
    user: encodeUser(user),
  };
}
