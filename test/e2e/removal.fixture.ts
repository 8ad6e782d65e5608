import { expect } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import type { Person } from "../stack/people.ts";
import { queryDatabase, type Stack } from "../stack/attach.ts";

/** A key that may do everything with runs, of a signed-in user's organization. */
export async function keyOf(stack: Stack, { browser, orgId }: Person, projectId?: string): Promise<Api> {
  const scopes = ["sdk:ingest", "export:read", "runs:control", "artifacts:write", "artifacts:manage", "imports:write"];
  const { status, json } = await browser.post(`/api/orgs/${orgId}/api-keys`, { scopes, project_id: projectId });
  expect(status).toBe(200);
  return stack.api.as(json.api_key as string);
}

/** Every table of the product that has an organization in its rows. */
async function tenantTables(stack: Stack): Promise<string[]> {
  const rows = await queryDatabase<{ name: string }>(
    stack,
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
     WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  );
  expect(rows.length).toBeGreaterThan(50);
  return rows.map(({ name }) => name);
}

/** The tables with rows, of all organizations, that contain a text, as text or as bytes. Other files share the stack: each looks for its own text. */
export async function tablesWith(stack: Stack, text: string): Promise<string[]> {
  const selects = (await tenantTables(stack)).map(
    (name) =>
      `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name} t WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%' || $2 || '%')`,
  );
  const hex = Buffer.from(text).toString("hex");
  const rows = await queryDatabase<{ name: string }>(stack, selects.join(" UNION ALL "), [text, hex]);
  return rows.map(({ name }) => name);
}

/** How many rows an organization has in each table where it has any. */
export async function rowsOf(stack: Stack, orgId: string): Promise<Record<string, number>> {
  const selects = (await tenantTables(stack)).map(
    (name) => `SELECT '${name}' AS name, count(*)::int AS n FROM ${name} WHERE org_id = $1`,
  );
  const rows = await queryDatabase<{ name: string; n: number }>(stack, selects.join(" UNION ALL "), [orgId]);
  return Object.fromEntries(rows.filter(({ n }) => n > 0).map(({ name, n }) => [name, n]));
}

/** The contents of the bucket under an organization's keys. */
export async function bytesOf(stack: Stack, orgId: string): Promise<string[]> {
  const entries = await readdir(stack.blobDirectory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath.includes(`/o/${orgId}`));
  return Promise.all(files.map(async (file) => (await readFile(join(file.parentPath, file.name))).toString("latin1")));
}

/** Moves a deletion so far back that its time is over, and also that of bytes that were sent twice. */
export async function letTimePass(
  stack: Stack,
  table: "runs.runs" | "runs.projects" | "control.organizations",
  id: string,
): Promise<void> {
  const key = table === "control.organizations" ? "org_id" : "id";
  await queryDatabase(
    stack,
    `UPDATE ${table} SET deleted_at = deleted_at - interval '31 days', purge_after = purge_after - interval '31 days' WHERE ${key} = $1`,
    [id],
  );
  await queryDatabase(stack, "UPDATE artifacts.objects SET sweep_after = now() WHERE sweep_after IS NOT NULL");
}

/** Waits until nothing is left to be removed, and the run, the project or the name of the organization is gone. */
export async function untilRemoved(stack: Stack, id: string): Promise<void> {
  const leftSql = `SELECT (SELECT count(*) FROM platform.removals) + (SELECT count(*) FROM runs.runs WHERE id = $1)
      + (SELECT count(*) FROM runs.projects WHERE id = $1) + (SELECT count(*) FROM control.organizations WHERE org_id = $1 AND name <> '')
      + (SELECT count(*) FROM artifacts.objects WHERE sweep_after < now()) AS n`;
  await until(
    "the removal",
    async () => Number((await queryDatabase<{ n: string }>(stack, leftSql, [id]))[0]!.n) === 0,
  );
}
