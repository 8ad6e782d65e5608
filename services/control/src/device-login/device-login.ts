import type { MessageInitShape } from "@bufbuild/protobuf";
import { equalHashes, issueCredential, parseCredential, type Scope } from "@tidemark/credentials";
import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { PollDeviceLoginResponseSchema } from "@tidemark/proto/control/v1/control";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import { webAddress, type ControlDeps, type ControlHandlers } from "../deps.ts";
import { issueKey } from "../keys/issue-key.ts";
import { isAdmin, requirePaid } from "../organizations/people.rules.ts";
import { requireSession } from "../organizations/users.ts";
import { encodeOrganization, encodeUser } from "../organizations/encode-organization.ts";
import { lockMembership } from "../organizations/memberships.sql.ts";
import { enterOrganization, findOrganization, requireOrganization } from "../organizations/organizations.sql.ts";
import { findUser } from "../organizations/users.sql.ts";
import { announceChange, lockPeopleManager } from "../projection/lock-caller.ts";
import {
  deviceLoginSeconds,
  hashUserCode,
  judgeApproval,
  judgePoll,
  newUserCode,
  pollIntervalSeconds,
} from "./device-login.rules.ts";
import {
  approveDeviceLogin,
  finishDeviceLogin,
  insertDeviceLogin,
  lockDeviceLogin,
  lockDeviceLoginByUserCode,
  notePoll,
  type DeviceLoginRow,
} from "./device-logins.sql.ts";

const attemptsMax = 5;

/** Begins a login that a signed-in person approves in a browser. @throws service_unavailable when no free user code was found */
export function startDeviceLogin(deps: ControlDeps): ControlHandlers["startDeviceLogin"] {
  return async ({ clientName, clientVersion, baseUrl }) => {
    const now = deps.now();
    const device = issueCredential("device", deps.randomBytes);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const userCode = newUserCode(deps.randomBytes);
      const made = await insertDeviceLogin(deps.db, {
        credentialId: device.id,
        hash: device.hash,
        userCodeHash: hashUserCode(userCode),
        clientName,
        clientVersion,
        now,
        expiresAt: new Date(now.getTime() + deviceLoginSeconds * 1000),
      });
      if (!made) continue;
      return {
        deviceCode: device.text,
        userCode,
        expiresInSeconds: deviceLoginSeconds,
        intervalSeconds: pollIntervalSeconds,
        verificationUri: `${webAddress(deps, baseUrl)}/auth/device`,
      };
    }
    throw new AppError("service_unavailable", "no login code is free; try again", { retryAfterSeconds: 1 });
  };
}

/**
 * Lets a device act for the organization of the caller, a signed-in owner or admin.
 * @throws unauthenticated; forbidden; not_found for a code that is unknown or expired; conflict for one that was used; payment_required
 */
export function confirmDeviceLogin({ db, now }: ControlDeps): ControlHandlers["confirmDeviceLogin"] {
  return async ({ userCode }, call) => {
    const { orgId, userId } = requireSession(call);
    await db.withTenant(orgId, async (tx) => {
      await lockPeopleManager(tx, call, now());
      const login = await lockDeviceLoginByUserCode(tx, hashUserCode(userCode));
      const state = login && { status: login.status, expiresAt: new Date(login.expires_at), lastPolledAt: undefined };
      const outcome = judgeApproval(state, now());
      if (login === undefined || outcome === "unknown") throw notFound("user code");
      if (outcome === "used") throw new AppError("conflict", "this user code was used already");
      const organization = await requireOrganization(tx, orgId);
      requirePaid(organization.billing_state, "create API keys");
      await approveDeviceLogin(tx, { credentialId: login.credential_id, orgId, userId });
      // Its id is part of the device's code.
      const target = { type: "device_login", id: "" };
      await recordAudit(tx, call, { orgId, action: "device_login.confirmed", target });
    });
    return {};
  };
}

/** The scopes of a key made by a device login: everything that the command line tool does. */
const deviceLoginScopes: readonly Scope[] = ["sdk:ingest", "artifacts:write", "imports:write", "export:read"];

type Answer = MessageInitShape<typeof PollDeviceLoginResponseSchema>;

/**
 * Returns whether a device's login was approved, and hands out its key to one poll. The key is made at this moment,
 * because only its hash may be stored.
 * @throws not_found for a code that was never issued; slow_down far below the interval
 */
export function pollDeviceLogin(deps: ControlDeps): ControlHandlers["pollDeviceLogin"] {
  return async ({ deviceCode }, call) => {
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
      return outcome === "approved" ? handOutKey(tx, deps, call, login) : { status: outcome };
    });
    if (answer.created !== undefined) deps.wakeRelay();
    return answer;
  };
}

/** Creates the key, if the person who approved may still do so. */
async function handOutKey(tx: Tx, deps: ControlDeps, call: Call, login: DeviceLoginRow): Promise<Answer> {
  await finishDeviceLogin(tx, login.credential_id);
  const { org_id: orgId, user_id: userId } = login;
  if (orgId === null || userId === null) return { status: "denied" };
  await enterOrganization(tx, orgId);
  const organization = await findOrganization(tx, orgId);
  const membership = await lockMembership(tx, orgId, userId);
  const user = await findUser(tx, userId);
  if (organization === undefined || user === undefined) return { status: "denied" };
  if (membership?.status !== "active" || !isAdmin(membership.role)) return { status: "denied" };
  const created = await issueKey(tx, deps, {
    orgId,
    name: "CLI device login",
    scopes: deviceLoginScopes,
    createdByUserId: userId,
  });
  const target = { type: "api_key", id: created.key!.id! };
  await recordAudit(tx, call, { orgId, action: "api_key.created", target, userId });
  await announceChange(tx, orgId);
  return {
    status: "authorized",
    created,
    organization: encodeOrganization(organization),
    user: encodeUser(user),
  };
}
