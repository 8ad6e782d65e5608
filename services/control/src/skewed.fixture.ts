import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { type Db } from "@tidemark/pg";

/** Organizations of very different sizes; `size` is how many members, sessions, keys, invitations and projects the large one has. */
export type Skew = {
  readonly organizations: number;
  /** The others have 1 to this many of each. */
  readonly membersMax: number;
  readonly size: number;
};

/** The organizations and users in the skewed database. */
export type Skewed = {
  readonly largeOrgId: string;
  /** A member of every organization. */
  readonly everywhereUserId: string;
};

// Rows in random order, as thousands of working organizations write them; all instants differ. $1 is the large organization, $2 the user
// who is everywhere.
const steps = {
  organizations: ({ organizations, membersMax, size }: Skew) => `
    CREATE TABLE public.seeded AS
    SELECT CASE WHEN n = 0 THEN $1::uuid ELSE gen_random_uuid() END AS org, n,
           CASE WHEN n = 0 THEN ${size} ELSE 1 + n % ${membersMax} END AS size
    FROM generate_series(0, ${organizations}) n WHERE $2::uuid IS NOT NULL`,
  rows: () => `
    WITH orgs AS (
      INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_at)
      SELECT org, 'seeded-' || n, 'Seeded ' || n, 'premium', 'paid_active', 'customer', 1000000, now() - n * interval '1 minute'
      FROM public.seeded
    ), people AS MATERIALIZED (
      SELECT org, n, i, CASE WHEN i = 1 THEN $2::uuid ELSE gen_random_uuid() END AS person
      FROM public.seeded, generate_series(1, size) i WHERE $1::uuid IS NOT NULL ORDER BY random()
    ), users AS (
      INSERT INTO control.users (id, email, created_at)
      SELECT person, min(n) || '-' || min(i) || '@seeded.example', min(now() - n * interval '1 day' - i * interval '1 second')
      FROM people GROUP BY person
    ), members AS (
      INSERT INTO control.memberships (org_id, id, user_id, role, status, created_at)
      SELECT org, gen_random_uuid(), person, 'member', 'active', now() - i * interval '1 second' FROM people
    ), sessions AS (
      INSERT INTO control.sessions (org_id, id, user_id, credential_id, hash, created_at, expires_at)
      SELECT org, gen_random_uuid(), person, md5('session ' || n || ' ' || i), sha256('x'), now() - i * interval '1 second',
             now() + interval '20 days'
      FROM people
    ), accounts AS (
      INSERT INTO control.service_accounts (org_id, id, name) SELECT org, md5('account ' || n || ' ' || i)::uuid, 'seeded' FROM people
    ), keys AS (
      INSERT INTO control.api_keys (org_id, id, service_account_id, credential_id, hash, key_prefix, name, scopes, created_at, revoked_at)
      SELECT org, gen_random_uuid(), md5('account ' || n || ' ' || i)::uuid, md5('key ' || n || ' ' || i), sha256('x'), 'seeded',
             'seeded', '{export:read}', now() - i * interval '1 second', CASE WHEN i > 20 THEN now() END
      FROM people
    ), invitations AS (
      INSERT INTO control.invitations (org_id, id, email, role, credential_id, hash, created_at, last_sent_at, expires_at, status)
      SELECT org, gen_random_uuid(), i || '@guests.example', 'member', md5('invitation ' || n || ' ' || i), sha256('x'),
             now() - i * interval '1 second', now(), now() + interval '7 days', CASE WHEN i % 200 = 2 THEN 'pending' ELSE 'accepted' END
      FROM people
    )
    INSERT INTO runs.projects (org_id, id, name) SELECT org, gen_random_uuid(), 'project ' || i FROM people`,
  logins: ({ size }: Skew) => `
    INSERT INTO control.device_logins (credential_id, hash, user_code_hash, expires_at)
    SELECT md5('login ' || i), sha256('x'), sha256(('code ' || i)::bytea), now() + interval '10 minutes'
    FROM generate_series(1, ${size}) i WHERE $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL`,
};

const tables = [
  "control.organizations",
  "control.users",
  "control.memberships",
  "control.member_counts",
  "control.sessions",
  "control.service_accounts",
  "control.api_keys",
  "control.invitations",
  "control.device_logins",
  "runs.projects",
  "runs.runs",
  "platform.outbox",
];

/** Fills a database with organizations of very different sizes. Autovacuum leaves it alone, so it is never analyzed. */
export async function seedSkewed(owner: Db, skew: Skew): Promise<Skewed> {
  const [largeOrgId, everywhereUserId] = [randomUUID(), randomUUID()];
  for (const table of tables) {
    await owner.rows(testSql(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`), []);
  }
  for (const text of Object.values(steps)) {
    await owner.rows(testSql(text(skew)), [largeOrgId, everywhereUserId]);
  }
  return { largeOrgId, everywhereUserId };
}
