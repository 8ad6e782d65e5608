import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Statement } from "@tidemark/pg";
import { newKey, newMember, newOrganization, startControl, type Control } from "./control.fixture.ts";

// Statements without any condition on the organization: they return only the rows that row level security leaves.
const tables = [
  "organizations",
  "memberships",
  "member_counts",
  "service_accounts",
  "api_keys",
  "sessions",
  "invitations",
] as const;
const selectAll = (table: string): Statement => testSql(`SELECT org_id FROM control.${table}`);
const touchAll = (table: string): Statement => testSql(`UPDATE control.${table} SET org_id = org_id RETURNING org_id`);

let control: Control;
let own: string;
let foreign: string;

beforeAll(async () => {
  control = await startControl();
  [own, foreign] = [await newOrganization(control), await newOrganization(control)];
  for (const orgId of [own, foreign]) {
    await newKey(control, orgId);
    await newMember(control, orgId, "admin");
    await control.client.createInvitation({ orgId, email: "guest@example.org" }, control.operator);
  }
});
afterAll(() => control.close());

describe.each(tables)("the service's role, on %s,", (table) => {
  test("sees the rows of the transaction's organization only", async () => {
    const rows = await control.db.withTenant(own, (tx) => tx.rows<{ org_id: string }>(selectAll(table), []));
    expect(new Set(rows.map(({ org_id }) => org_id))).toEqual(new Set([own]));
  });

  test("changes the rows of the transaction's organization only", async () => {
    const rows = await control.db.withTenant(own, (tx) => tx.rows<{ org_id: string }>(touchAll(table), []));
    expect(new Set(rows.map(({ org_id }) => org_id))).toEqual(new Set([own]));
  });

  test("is refused outside an organization's transaction", async () => {
    await expect(control.db.rows(selectAll(table), [])).rejects.toThrow(/app\.org_id|uuid/);
  });
});

test("the audit log shows the transaction's organization only", async () => {
  const rows = await control.db.withTenant(own, (tx) => tx.rows<{ org_id: string }>(selectAll("audit_events"), []));
  expect(new Set(rows.map(({ org_id }) => org_id))).toEqual(new Set([own]));
  await expect(control.db.rows(selectAll("audit_events"), [])).rejects.toThrow(/app\.org_id|uuid/);
});

test("a row cannot be written into another organization", async () => {
  const insert = testSql("INSERT INTO control.service_accounts (org_id, id, name) VALUES ($1, gen_random_uuid(), 'x')");
  await expect(control.db.withTenant(own, (tx) => tx.rows(insert, [foreign]))).rejects.toThrow(/row-level security/);
});

test("a connection carries no organization into its next transaction", async () => {
  // More transactions than the pool has connections, so every one of them is used again.
  await Promise.all(
    Array.from({ length: 20 }, () => control.db.withTenant(own, (tx) => tx.rows(selectAll("api_keys"), []))),
  );
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => control.db.rows(selectAll("api_keys"), [])),
  );
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
});

test("look-ups across organizations are for the service's role alone", async () => {
  const look = testSql("SELECT * FROM control.find_credential('api_key', 'x')");
  await expect(control.workerDb.rows(look, [])).rejects.toThrow(/permission denied/);
});

// People leave, everything else stays.
test.each(tables.filter((table) => table !== "memberships"))(
  "the service's role cannot delete from %s",
  async (table) => {
    const remove = testSql(`DELETE FROM control.${table}`);
    await expect(control.db.withTenant(own, (tx) => tx.rows(remove, []))).rejects.toThrow(/permission denied/);
  },
);

test("the service's role deletes memberships of the transaction's organization only", async () => {
  const remove = testSql("DELETE FROM control.memberships RETURNING org_id");
  const undo = new Error("the rows stay");
  let removed: readonly { org_id: string }[] = [];
  const work = control.db.withTenant(own, async (tx) => {
    removed = await tx.rows<{ org_id: string }>(remove, []);
    throw undo;
  });
  await expect(work).rejects.toThrow(undo);
  expect(new Set(removed.map(({ org_id }) => org_id))).toEqual(new Set([own]));
});
