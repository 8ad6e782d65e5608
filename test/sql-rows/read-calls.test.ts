import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openSources, readCalls, type RowCall } from "./read-calls.ts";

const PG = `export type Statement = { readonly name: string };
export type Tx = {
  rows<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  one<Row>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined>;
  each<Row>(statement: Statement, values: readonly unknown[], take: (row: Row) => void): Promise<void>;
};
export const sql = (name: string): Statement => ({ name });
export const binarySql = sql;`;

const CALLS = `import { binarySql, sql, type Statement, type Tx } from "../../../infra/pg/src/db.ts";
import { shared } from "./shared.ts";
type Row = { readonly id: string; readonly size?: number | null };
const find = sql("find");
const named = (name: string) => sql(name);
const listFirst = named("list_first");
const ofKinds = Object.fromEntries(["a", "b"].map((kind) => [kind, binarySql(\`count_\${kind}\`)]));
const byType = new Map([["x", named("x")], ["y", named("y")]]);
const of = (table: string): Statement => {
  const name = \`drop_\${table}\`;
  return sql(\`of_\${table}_\${name}\`);
};
export async function run(tx: Tx, first: boolean, given: Statement): Promise<Row[]> {
  await tx.rows(find, []);
  await tx.one<Row>(find, []);
  await tx.rows<{ bytes: Uint8Array; tags: string[] | null }>(first ? listFirst : shared, []);
  await tx.each(ofKinds["a"]!, [], ({ n }: { n: 1 | 2; s: "s" }) => void n);
  await tx.one<{ at: Date }>(byType.get("x")!, []);
  const [statement] = first ? [of("t"), 1] : [shared, 2];
  await tx.one<{ kind: "a"; x: null } | { kind: "b"; x: string }>(statement, []);
  for (const one of [find, shared]) await tx.one<{ ok: boolean }>(one, []);
  return tx.rows(given, []);
}
const readAll = async (tx: Tx, { statement }: { readonly statement: Statement }) => tx.one<Row>(statement, []);
export async function start(tx: Tx): Promise<void> {
  const statement = named("all");
  await run(tx, true, find);
  await readAll(tx, { statement });
}`;

let root: string;
let calls: readonly RowCall[];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tidemark-calls-"));
  const files = {
    "tsconfig.json": `{ "compilerOptions": { "strict": true, "target": "es2024", "allowImportingTsExtensions": true, "noEmit": true, "types": [] } }`,
    "infra/pg/src/db.ts": PG,
    "services/a/src/calls.sql.ts": CALLS,
    "services/a/src/shared.ts": `import { sql } from "../../../infra/pg/src/db.ts";\nexport const shared = sql("shared");`,
    "services/a/src/calls.test.ts": CALLS,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const sources = await openSources(root);
  calls = readCalls(root, sources);
  sources.close();
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("the statements of calls are traced to their declarations", () => {
  const file = "services/a/src/calls.sql.ts";
  expect(calls.map(({ place, statements }) => [place, statements])).toEqual([
    [`${file} find`, ["find"]],
    [`${file} first ? listFirst : shared`, ["list_first", "shared"]],
    [`${file} ofKinds["a"]!`, ["count_*"]],
    [`${file} byType.get("x")!`, ["x", "y"]],
    [`${file} statement`, ["of_t_*", "shared"]],
    [`${file} one`, ["find", "shared"]],
    [`${file} given`, ["find"]],
    [`${file} statement`, ["all"]],
  ]);
});

test("the members of rows have their types, whether named or inferred", () => {
  const member = (name: string, kinds: readonly string[], more: "" | "optional" | "null" | "optional null" = "") => ({
    name,
    kinds,
    isOptional: more.startsWith("optional"),
    isNullable: more.endsWith("null"),
  });
  expect(calls.map(({ members }) => members)).toEqual([
    [member("id", ["string"]), member("size", ["number"], "optional null")],
    [member("bytes", ["bytes"]), member("tags", ["string[]"], "null")],
    [member("n", ["number"]), member("s", ["string"])],
    [member("at", ["Date"])],
    [member("kind", ["string"]), member("x", ["string"], "null")],
    [member("ok", ["boolean"])],
    [member("id", ["string"]), member("size", ["number"], "optional null")],
    [member("id", ["string"]), member("size", ["number"], "optional null")],
  ]);
});
