import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, migrate, plannedSql, platformMigrations, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, testServerUrl } from "@tidemark/testkit";
import { newEmail, newMember, newOrganization, signIn, startControl, type Control } from "../control.fixture.ts";
import { controlMigrations } from "../module.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const wrong = sql(
  "test_wrong_member_counts",
  `SELECT * FROM (
     SELECT org_id, count(*) AS members, count(*) FILTER (WHERE status = 'active') AS active
     FROM control.memberships GROUP BY org_id
   ) counted FULL JOIN control.member_counts kept USING (org_id)
   WHERE (counted.members, counted.active) IS DISTINCT FROM (kept.members, kept.active)`,
);
const counts = sql("test_member_counts", "SELECT members, active FROM control.member_counts WHERE org_id = $1");

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
  const people = sql(
    "test_insert_people",
    `INSERT INTO control.users (id, email) SELECT gen_random_uuid(), $1 || i FROM generate_series(1, 50) i RETURNING id`,
  );
  const insert = sql(
    "test_insert_memberships",
    `INSERT INTO control.memberships (org_id, id, user_id, role, status)
     SELECT org, gen_random_uuid(), person, 'member', CASE WHEN n % 3 = 0 THEN 'active' ELSE 'invited' END
     FROM unnest($1::uuid[]) org, unnest($2::uuid[]) WITH ORDINALITY p (person, n) ON CONFLICT DO NOTHING`,
  );
  const swap = sql(
    "test_swap_statuses",
    `UPDATE control.memberships SET status = CASE status WHEN 'active' THEN 'invited' ELSE 'active' END
     WHERE org_id = ANY ($1)`,
  );
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

/** As the superuser of the server. */
async function withDatabase<T>(
  url: string,
  work: (run: (text: string) => Promise<unknown[]>) => Promise<T>,
): Promise<T> {
  const db: Db = createDb({ url, role: new URL(url).username, application: "test", connectionsMax: 1 });
  try {
    return await work((text) => db.rows(plannedSql("test", text), []));
  } finally {
    await db.close();
  }
}

test("members of before are counted, by an owner whom row level security holds", async () => {
  const owner = `tidemark_test_owner_${randomUUID().slice(0, 8)}`;
  const name = `tidemark_test_${randomUUID().replaceAll("-", "")}`;
  const before = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  const { schema, directory } = controlMigrations;
  const files = (await readdir(directory)).filter((file) => file < "0004");
  await Promise.all(files.map((file) => copyFile(join(directory, file), join(before, file))));
  // Makes the roles, in case this is the first database of its server.
  await (await createTestDatabase()).drop();
  const url = new URL(testServerUrl());
  try {
    await withDatabase(url.href, async (run) => {
      const roles = (await run(
        "SELECT string_agg(rolname, ', ') AS all FROM pg_roles WHERE rolname LIKE 'tidemark\\_%' AND NOT rolcanlogin",
      )) as { all: string }[];
      await run(`CREATE ROLE ${owner} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS INHERIT`);
      await run(`GRANT ${roles[0]!.all} TO ${owner}`);
      await run(`CREATE DATABASE ${name} OWNER ${owner}`);
    });
    url.pathname = `/${name}`;
    const asOwner = new URL(url);
    asOwner.searchParams.set("options", `-c role=${owner}`);
    await migrate(asOwner.href, [platformMigrations, { schema, directory: before }]);
    await withDatabase(url.href, async (run) => {
      await run(`INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit)
                 SELECT gen_random_uuid(), 'o' || i, 'o', 'free', 'free_active', 'customer', 9 FROM generate_series(1, 3) i`);
      await run(
        "INSERT INTO control.users (id, email) SELECT gen_random_uuid(), i || '@x.co' FROM generate_series(1, 40) i",
      );
      await run(`INSERT INTO control.memberships (org_id, id, user_id, role, status)
                 SELECT org_id, gen_random_uuid(), id, 'member', CASE WHEN email < '2' THEN 'invited' ELSE 'active' END
                 FROM control.organizations, control.users WHERE slug <> 'o3'`);
    });
    await migrate(asOwner.href, [platformMigrations, controlMigrations]);
    await withDatabase(url.href, async (run) => {
      expect(await run("SELECT members, active FROM control.member_counts")).toEqual([
        { members: 40, active: 29 },
        { members: 40, active: 29 },
      ]);
      const unfenced = `SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'control'::regnamespace AND relkind = 'r'
                          AND relname NOT IN ('users', 'identities', 'device_logins', 'one_time_tokens') AND NOT (relrowsecurity AND relforcerowsecurity)`;
      expect(await run(unfenced)).toEqual([]);
    });
  } finally {
    await withDatabase(testServerUrl(), async (run) => {
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await run(`DROP ROLE IF EXISTS ${owner}`);
    });
    await rm(before, { recursive: true });
  }
});
