import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

import { newEmail, newMember, newOrganization, signIn, startControl, type Control } from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const wrong = testSql(`SELECT * FROM (
     SELECT org_id, count(*) AS members, count(*) FILTER (WHERE status = 'active') AS active
     FROM control.memberships GROUP BY org_id
   ) counted FULL JOIN control.member_counts kept USING (org_id)
   WHERE (counted.members, counted.active) IS DISTINCT FROM (kept.members, kept.active)`);
const counts = testSql("SELECT members, active FROM control.member_counts WHERE org_id = $1");

test("counts follow members who are reserved, join and are invited again", async () => {
  const orgId = await newOrganization(control);
  await newMember(control, orgId, "owner");
  await newMember(control, orgId, "member");
  const email = newEmail();
  await control.client.addSeat({ orgId, email }, control.operator);
  await control.client.addSeat({ orgId, email }, control.operator);
  expect(await control.ownerDb.rows(counts, [orgId])).toEqual([{ members: 3, active: 2 }]);
  await signIn(control, { email, acceptInviteOrgId: orgId });
  await signIn(control, { email });
  expect(await control.ownerDb.rows(counts, [orgId])).toEqual([{ members: 3, active: 3 }]);
  expect(await control.ownerDb.rows(wrong, [])).toEqual([]);
});

test("counts follow statements about many organizations, and forget what is rolled back", async () => {
  const orgIds = [await newOrganization(control), await newOrganization(control), await newOrganization(control)];
  const people = testSql(
    `INSERT INTO control.users (id, email) SELECT gen_random_uuid(), $1 || i FROM generate_series(1, 50) i RETURNING id`,
  );
  const insert = testSql(`INSERT INTO control.memberships (org_id, id, user_id, role, status)
     SELECT org, gen_random_uuid(), person, 'member', CASE WHEN n % 3 = 0 THEN 'active' ELSE 'invited' END
     FROM unnest($1::uuid[]) org, unnest($2::uuid[]) WITH ORDINALITY p (person, n) ON CONFLICT DO NOTHING`);
  const swap =
    testSql(`UPDATE control.memberships SET status = CASE status WHEN 'active' THEN 'invited' ELSE 'active' END
     WHERE org_id = ANY ($1)`);
  const ids = (await control.ownerDb.rows<{ id: string }>(people, [newEmail()])).map(({ id }) => id);
  await control.ownerDb.rows(insert, [orgIds, ids]);
  await control.ownerDb.rows(insert, [orgIds, ids]);
  expect(await control.ownerDb.rows(counts, [orgIds[1]])).toEqual([{ members: 50, active: 16 }]);
  const undone = new Error("undone");
  const trying = control.ownerDb.transaction(async (tx) => {
    await tx.rows(swap, [orgIds]);
    throw undone;
  });
  await expect(trying).rejects.toBe(undone);
  await control.ownerDb.rows(swap, [orgIds.slice(0, 2)]);
  expect(await control.ownerDb.rows(counts, [orgIds[1]])).toEqual([{ members: 50, active: 34 }]);
  expect(await control.ownerDb.rows(counts, [orgIds[2]])).toEqual([{ members: 50, active: 16 }]);
  expect(await control.ownerDb.rows(wrong, [])).toEqual([]);
});

test("counts hold when people join simultaneously", async () => {
  const orgId = await newOrganization(control);
  const emails = Array.from({ length: 8 }, () => newEmail());
  await Promise.all(emails.map((email) => control.client.addSeat({ orgId, email }, control.operator)));
  await Promise.all(emails.map((email) => signIn(control, { email, acceptInviteOrgId: orgId })));
  expect(await control.ownerDb.rows(counts, [orgId])).toEqual([{ members: 8, active: 8 }]);
});
