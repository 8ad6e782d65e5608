import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomBytes, randomUUID } from "node:crypto";

import { testSql, until } from "@tidemark/testkit";
import { newMember, newOrganization, signIn, startControl, type Control } from "../control.fixture.ts";
import { findSeatRow, removeSeatRow, updateMembership } from "../organizations/memberships.sql.ts";
import { readProjection, restingCursor } from "../projection/projection.fixture.ts";
import { openSession } from "./open-session.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const waitingSql = testSql(
  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
);
const untilOneWaits = () => until("a statement to wait", async () => (await control.ownerDb.count(waitingSql, [])) > 0);

const liveSql = testSql("SELECT id FROM control.sessions WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL");

async function memberOf(orgId: string) {
  const { userId, email } = await newMember(control, orgId, "member");
  const { seats } = await control.client.listSeats({ orgId }, control.operator);
  const membershipId = seats.find(({ user }) => user!.id === userId)!.membership!.id;
  return { userId, email, membershipId };
}

/** Opens a session in a transaction that stays open until `meanwhile` waits for it. */
const openWhile = (orgId: string, userId: string, meanwhile: () => Promise<unknown>) =>
  control.db
    .withTenant(orgId, async (tx) => {
      await openSession(tx, { newId: randomUUID, randomBytes, now: () => control.now() }, { orgId, userId });
      const other = meanwhile();
      await untilOneWaits();
      return { other };
    })
    .then(({ other }) => other);

describe("a session that is opened while its member", () => {
  test("is removed ends with the removal", async () => {
    const orgId = await newOrganization(control);
    const { userId, membershipId } = await memberOf(orgId);
    await openWhile(orgId, userId, () => control.client.removeSeat({ orgId, membershipId }, control.operator));
    expect(await control.ownerDb.rows(liveSql, [orgId, userId])).toEqual([]);
  });

  test("has been removed is none", async () => {
    const orgId = await newOrganization(control);
    const { userId, email, membershipId } = await memberOf(orgId);
    const { signingIn } = await control.db.withTenant(orgId, async (tx) => {
      const seat = await findSeatRow(tx, orgId, membershipId);
      await removeSeatRow(tx, seat!, control.now());
      const signingIn = signIn(control, { email }).then(
        () => "signed in",
        (error: { reason: string }) => error.reason,
      );
      await untilOneWaits();
      return { signingIn };
    });
    expect(await signingIn).toBe("forbidden");
    expect(await control.ownerDb.rows(liveSql, [orgId, userId])).toEqual([]);
  });

  test("gets another role has that role in every gateway", async () => {
    const orgId = await newOrganization(control);
    const { userId } = await memberOf(orgId);
    const cursor = await restingCursor(control);
    await openWhile(orgId, userId, () =>
      control.db.withTenant(orgId, (tx) => updateMembership(tx, { orgId, userId, role: "viewer", status: "active" })),
    );
    const { credentials } = await readProjection(control, cursor);
    expect(credentials.length).toBeGreaterThan(0);
    expect(new Set(credentials.map(({ role }) => role))).toEqual(new Set(["viewer"]));
    // The change of the role reached all sessions, including the new one.
    const told = testSql("SELECT DISTINCT changed_xid FROM control.sessions WHERE org_id = $1 AND user_id = $2");
    expect(await control.ownerDb.rows(told, [orgId, userId])).toHaveLength(1);
  });
});
