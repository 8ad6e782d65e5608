import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { newKey, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";
import { exceedsSeats } from "./memberships.sql.ts";

let control: Control;
let usage: Db;
let orgId: string;
beforeAll(async () => {
  control = await startControl();
  usage = createDb({ url: control.url, role: "tidemark_usage", application: "test", connectionsMax: 1 });
});
afterAll(async () => {
  await usage.close();
  await control.close();
});
beforeEach(async () => {
  orgId = await newOrganization(control);
  // Another organization; none of its rows are visible.
  const other = await newOrganization(control);
  await newKey(control, other);
  await newMember(control, other, "admin");
});

const read = testSql("SELECT org_id, slug, seats, keys FROM control.usage_v1");
const useOf = async (of: string) => {
  const rows = await usage.readTenant(of, (tx) => tx.rows<{ seats: number; keys: number }>(read, []));
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
};
const invite = (email: string) => control.client.createInvitation({ orgId, email }, control.operator);
const change = (statement: string, ...values: readonly unknown[]) => control.ownerDb.rows(testSql(statement), values);

test("seats are members and people whose invitations are open, by the rule of inviting", async () => {
  expect(await useOf(orgId)).toMatchObject({ org_id: orgId, slug: expect.any(String), seats: 0 });
  const member = await newMember(control, orgId, "admin");
  const ids = [];
  for (let n = 0; n < 4; n += 1) ids.push((await invite(`guest${n}-${orgId}@example.org`)).sent!.invitation!.id);
  // A person who has a seat does not take a second one.
  await change(
    `INSERT INTO control.invitations (org_id, id, email, role, credential_id, hash, expires_at, last_sent_at)
     VALUES ($1, gen_random_uuid(), $2, 'member', gen_random_uuid(), sha256(''), now() + interval '1 day', now())`,
    orgId,
    member.email,
  );
  expect(await useOf(orgId)).toMatchObject({ seats: 1 + 4 });
  await change("UPDATE control.invitations SET status = 'revoked' WHERE id = $1", ids[0]);
  await change("UPDATE control.invitations SET expires_at = now() - interval '1 second' WHERE id = $1", ids[1]);
  expect(await useOf(orgId)).toMatchObject({ seats: 1 + 2 });
  const exceeds = (limit: number) => control.db.withTenant(orgId, (tx) => exceedsSeats(tx, orgId, new Date(), limit));
  expect([await exceeds(2), await exceeds(3)]).toEqual([true, false]);
});

test("keys are those that are neither revoked nor past their end", async () => {
  for (let n = 0; n < 4; n += 1) await newKey(control, orgId);
  expect(await useOf(orgId)).toMatchObject({ keys: 4 });
  const set = (what: string, skip: number) =>
    change(
      `UPDATE control.api_keys SET ${what} WHERE id = (SELECT id FROM control.api_keys WHERE org_id = $1 ORDER BY id OFFSET ${skip} LIMIT 1)`,
      orgId,
    );
  await set("revoked_at = now()", 0);
  await set("expires_at = now() - interval '1 second'", 1);
  await set("expires_at = now() + interval '1 day'", 2);
  expect(await useOf(orgId)).toMatchObject({ keys: 2 });
});

test("the service of usage sees its organization and no more than the numbers", async () => {
  expect(await useOf(randomUUID())).toBeUndefined();
  await expect(usage.rows(read, [])).rejects.toThrow(/app\.org_id|uuid/);
  await invite(`guest-${orgId}@example.org`);
  const foreign = testSql("SELECT control.promised_seats($1) AS seats");
  expect(await usage.readTenant(randomUUID(), (tx) => tx.rows(foreign, [orgId]))).toEqual([{ seats: 0 }]);
  for (const statement of [
    "SELECT email FROM control.users",
    "SELECT email FROM control.invitations",
    "SELECT hash FROM control.api_keys",
    "SELECT name FROM control.organizations",
    "SELECT user_id FROM control.memberships",
  ]) {
    const denied = usage.readTenant(orgId, (tx) => tx.rows(testSql(statement), []));
    await expect(denied).rejects.toThrow(/permission denied/);
  }
});
