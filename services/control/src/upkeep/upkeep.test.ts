import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { newKey, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";
import { readProjection, restingCursor } from "../projection/projection.fixture.ts";
import { runUpkeep } from "./upkeep.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const round = () => runUpkeep({ db: control.db, workerDb: control.workerDb, now: control.now() });
const count = async (table: string): Promise<number> =>
  (await control.ownerDb.one<{ n: number }>(testSql(`SELECT count(*) AS n FROM control.${table}`), []))!.n;

describe("a round of upkeep", () => {
  test("removes sessions a day after they ended, and no others", async () => {
    const orgId = await newOrganization(control);
    const { token } = await newMember(control, orgId, "member");
    await control.client.signOut({ token }, control.anyone);
    await newMember(control, orgId, "member");
    expect((await round()).sessions).toBe(0);
    control.pass({ days: 1, seconds: 1 });
    expect((await round()).sessions).toBe(1);
    expect(await count("sessions")).toBe(1);
    control.pass({ days: 31 });
    expect((await round()).sessions).toBe(1);
    expect(await count("sessions")).toBe(0);
  });

  test("removes invitations 90 days after they ended, and no others", async () => {
    const orgId = await newOrganization(control);
    const made = await control.client.createInvitation(
      { orgId, email: "gone@example.test", role: "viewer" },
      control.operator,
    );
    const invitationId = made.sent!.invitation!.id;
    await control.client.revokeInvitation({ orgId, invitationId }, control.operator);
    await control.client.createInvitation({ orgId, email: "stays@example.test", role: "viewer" }, control.operator);
    control.pass({ days: 5 });
    expect((await round()).endedInvitations).toBe(0);
    control.pass({ days: 85, seconds: 1 });
    // The other one expired on the way, and has 90 days from then.
    expect((await round()).endedInvitations).toBe(1);
    expect(await count("invitations")).toBe(1);
  });

  test("removes device logins an hour after they expired", async () => {
    await control.client.startDeviceLogin({}, control.anyone);
    control.pass({ minutes: 74 });
    expect((await round()).deviceLogins).toBe(0);
    control.pass({ minutes: 2 });
    expect((await round()).deviceLogins).toBe(1);
    expect(await count("device_logins")).toBe(0);
  });

  test("marks invitations that have expired", async () => {
    const orgId = await newOrganization(control);
    await control.client.createInvitation({ orgId, email: "a@b.co" }, control.operator);
    expect((await round()).invitations).toBe(0);
    control.pass({ days: 7, seconds: 1 });
    expect((await round()).invitations).toBe(1);
    expect((await round()).invitations).toBe(0);
  });

  test("ends more than one batch", async () => {
    const insert = testSql(`INSERT INTO control.device_logins (credential_id, hash, user_code_hash, expires_at)
       SELECT i::text, sha256(i::text::bytea), sha256(i::text::bytea), '2000-01-01' FROM generate_series(1, 1201) i`);
    await control.ownerDb.rows(insert, []);
    expect((await round()).deviceLogins).toBe(1201);
  });

  test("gives rows of a restored dump numbers of this server, so that polls become empty", async () => {
    const orgId = await newOrganization(control);
    await newKey(control, orgId);
    await control.ownerDb.rows(
      testSql("UPDATE control.api_keys SET changed_xid = '9000000000000'::xid8 WHERE org_id = $1"),
      [orgId],
    );
    const { cursor } = await readProjection(control);
    expect((await readProjection(control, cursor)).credentials).toHaveLength(1);
    expect((await round()).reset).toBe(1);
    const after = await readProjection(control, await restingCursor(control));
    expect(after.credentials).toEqual([]);
  });

  test("turns the generations of idempotency records", async () => {
    const add = testSql(`DO $$ BEGIN
         EXECUTE format('INSERT INTO platform.idempotency_%s (org_id, key_hash, body_hash, reply) VALUES (%L, %L, %L, %L)',
                        (platform.idempotency_turn(now()) + 1) % 3, gen_random_uuid(), '', '', '');
       END $$`);
    await control.ownerDb.rows(add, []);
    expect((await round()).emptied).toBe(true);
    expect((await round()).emptied).toBe(false);
  });
});
