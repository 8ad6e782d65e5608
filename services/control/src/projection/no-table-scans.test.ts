import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createDb, sql, type Db, type Tx } from "@tidemark/pg";
import { newOrganization, startControl, type Control } from "../control.fixture.ts";

let control: Control;
let definer: Db;

const rows = 20_000;
let statements = 0;

beforeAll(async () => {
  control = await startControl();
  definer = createDb({ url: control.url, role: "tidemark_definer", application: "control-test", connectionsMax: 1 });
  const orgId = await newOrganization(control);
  const fill = (name: string, text: string): Promise<unknown> =>
    control.ownerDb.rows(sql(`test_fill_${name}`, text), [orgId]);
  await fill(
    "users",
    "INSERT INTO control.users (id, email) SELECT gen_random_uuid(), i || '@x' FROM generate_series(1, 2000) i WHERE $1::uuid IS NOT NULL",
  );
  await fill(
    "members",
    "INSERT INTO control.memberships (org_id, id, user_id, role, status) SELECT $1, gen_random_uuid(), id, 'member', 'active' FROM control.users",
  );
  await fill(
    "sessions",
    `INSERT INTO control.sessions (org_id, id, user_id, credential_id, hash, expires_at, changed_xid)
    SELECT $1, gen_random_uuid(), id, n || '-' || id, sha256('x'), now() + interval '1 day', (n * 7)::text::xid8
    FROM control.users, generate_series(1, ${rows / 2000}) n`,
  );
  await fill(
    "accounts",
    "INSERT INTO control.service_accounts (org_id, id, name) VALUES ($1, '3f0c7e9a-0000-4000-8000-000000000000', 'x')",
  );
  await fill(
    "keys",
    `INSERT INTO control.api_keys (org_id, id, service_account_id, credential_id, hash, key_prefix, name, scopes, changed_xid)
    SELECT $1, gen_random_uuid(), '3f0c7e9a-0000-4000-8000-000000000000', i::text, sha256('x'), 'x', 'x', '{export:read}', i::text::xid8
    FROM generate_series(1, ${rows}) i`,
  );
  await fill(
    "organizations",
    `INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, changed_xid)
    SELECT gen_random_uuid(), 'o' || i, 'x', 'free', 'free_active', 'customer', 2, i::text::xid8
    FROM generate_series(1, ${rows}) i WHERE $1::uuid IS NOT NULL`,
  );
  await control.ownerDb.rows(sql("test_analyze", "ANALYZE"), []);
});
afterAll(async () => {
  await definer.close();
  await control.close();
});

/** Returns the generic plan of a function's body, as its owner runs it. */
async function planOf(name: string, types: readonly string[], values: readonly string[]): Promise<string> {
  const find = sql(
    "test_find_function",
    `SELECT prosrc, proargnames[1:pronargs] AS names FROM pg_proc
     WHERE proname = $1 AND pronamespace = 'control'::regnamespace`,
  );
  const { prosrc, names } = (await control.ownerDb.one<{ prosrc: string; names: string[] }>(find, [name]))!;
  const body = names.reduce(
    (text, argument, i) => text.replaceAll(new RegExp(`\\b${argument}\\b`, "g"), `$${i + 1}`),
    prosrc,
  );
  statements += 1;
  const prepared = `plan_${statements}`;
  const ask = (tx: Tx, verb: string, text: string): Promise<{ "QUERY PLAN": string }[]> =>
    tx.rows({ name: `test_${verb}_${statements}`, text }, []);
  return definer.transaction(async (tx) => {
    await ask(tx, "mode", "SET LOCAL plan_cache_mode = force_generic_plan");
    await ask(tx, "prepare", `PREPARE ${prepared} (${types.join(", ")}) AS ${body}`);
    const lines = await ask(tx, "explain", `EXPLAIN EXECUTE ${prepared} (${values.join(", ")})`);
    return lines.map((line) => line["QUERY PLAN"]).join("\n");
  });
}

describe("with many credentials, no table is read as a whole", () => {
  test("by a page of the projection", async () => {
    const types = ["xid8", "text", "text", "boolean", "integer"];
    const plan = await planOf("projection_page", types, ["'1'", "'api_key'", "'1'", "false", "1001"]);
    expect(plan).toContain("api_keys_changed");
    expect(plan).toContain("organizations_changed");
    expect(plan).toContain("sessions_changed");
    expect(plan).not.toMatch(/Seq Scan on (api_keys|sessions|organizations)/);
  });

  test("by the look-up of one credential", async () => {
    const plan = await planOf("find_credential", ["text", "text"], ["'api_key'", "'1'"]);
    expect(plan).toContain("api_keys_credential_id_key");
    expect(plan).toContain("sessions_credential_id_key");
    expect(plan).not.toMatch(/Seq Scan on (api_keys|sessions|organizations)/);
  });
});
