import { type Catalog, type Grant, type Owned, ownedColumns, ownerAndGrants, comment, wrap } from "./catalog.ts";

type Table = Owned & {
  readonly name: string;
  readonly unlogged: boolean;
  readonly options: string[];
  readonly fenced: boolean;
  readonly forced: boolean;
  readonly comment: string | null;
};
type Column = { readonly table: string; readonly text: string; readonly comment: string | null };
/** A statement or a line that belongs to a table, ready to print. */
type OfTable = { readonly table: string; readonly text: string };

/** Returns the tables of a schema, each with columns, constraints, indexes, row level security, triggers and privileges. */
export async function printTables(catalog: Catalog, schema: string): Promise<readonly string[]> {
  const read = async <Row extends object>(text: string): Promise<readonly Row[]> =>
    (await catalog.query<Row>(text, [schema])).rows;
  const tables = await read<Table>(readTables);
  const columns = await read<Column>(readColumns);
  const constraints = await read<OfTable>(readConstraints);
  const indexes = await read<OfTable>(readIndexes);
  const policies = await read<OfTable>(readPolicies);
  const triggers = await read<OfTable>(readTriggers);
  const columnGrants = await read<Grant & { table: string }>(readColumnGrants);
  return tables.map((table) => {
    const own = <Row extends { table: string }>(rows: readonly Row[]): readonly Row[] =>
      rows.filter((row) => row.table === table.name);
    const inside = [
      ...own(columns).map(({ text, comment: about }) => ({ about, text })),
      ...own(constraints).map(({ text }) => ({ about: null, text })),
    ];
    return [
      ...comment(table.comment),
      `CREATE ${table.unlogged ? "UNLOGGED " : ""}TABLE ${table.name} (`,
      ...inside.flatMap(({ about, text }, index) => [
        ...comment(about, "  "),
        wrap(`  ${text}${index === inside.length - 1 ? "" : ","}`, "    "),
      ]),
      table.options.length === 0 ? ");" : wrap(`) WITH (${table.options.join(", ")});`),
      ...own(indexes).map(({ text }) => wrap(`${text.replace(" USING btree ", " ")};`)),
      ...(table.fenced ? [`ALTER TABLE ${table.name} ENABLE ROW LEVEL SECURITY;`] : []),
      ...(table.forced ? [`ALTER TABLE ${table.name} FORCE ROW LEVEL SECURITY;`] : []),
      ...own(policies).map(({ text }) => `${text};`),
      ...own(triggers).map(({ text }) => `${text};`),
      ...ownerAndGrants("TABLE", table.name, { ...table, grants: [...table.grants, ...own(columnGrants)] }),
    ].join("\n");
  });
}

const tablesOfSchema = `pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'`;

const readTables = `
SELECT c.oid::regclass::text AS name, c.relpersistence = 'u' AS unlogged,
       coalesce(c.reloptions, '{}') ||
         ARRAY(SELECT 'toast.' || o FROM pg_class t, unnest(t.reloptions) o WHERE t.oid = c.reltoastrelid) AS options,
       c.relrowsecurity AS fenced, c.relforcerowsecurity AS forced, obj_description(c.oid, 'pg_class') AS comment,
       ${ownedColumns("c.relowner", "c.relacl")}
FROM ${tablesOfSchema}
ORDER BY c.relname`;

const readColumns = `
SELECT c.oid::regclass::text AS table, col_description(c.oid, a.attnum) AS comment,
       concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
         CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || a.attcollation::regcollation::text END,
         CASE WHEN a.attstorage <> t.typstorage THEN 'STORAGE ' ||
           CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END,
         CASE WHEN a.attcompression <> '' THEN 'COMPRESSION ' || CASE a.attcompression WHEN 'l' THEN 'lz4' ELSE 'pglz' END END,
         CASE a.attgenerated WHEN '' THEN 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid, true)
           WHEN 's' THEN 'GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid, true) || ') STORED'
           ELSE 'GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid, true) || ')' END,
         CASE WHEN a.attnotnull THEN 'NOT NULL' END) AS text
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'
ORDER BY c.relname, a.attnum`;

// NOT NULL is part of its column. Primary keys first, then unique and foreign keys, then checks.
const readConstraints = `
SELECT k.conrelid::regclass::text AS table,
       format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid, true)) AS text
FROM pg_constraint k
WHERE k.connamespace = $1::regnamespace AND k.contype IN ('p', 'u', 'f', 'c', 'x')
ORDER BY strpos('pufxc', k.contype::text), k.conname`;

const readIndexes = `
SELECT i.indrelid::regclass::text AS table, pg_get_indexdef(i.indexrelid, 0, true) AS text
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = $1::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
ORDER BY c.relname`;

const readPolicies = `
SELECT p.polrelid::regclass::text AS table,
       format('CREATE POLICY %I ON %s', p.polname, p.polrelid::regclass) || concat(
         CASE WHEN NOT p.polpermissive THEN ' AS RESTRICTIVE' END,
         CASE p.polcmd WHEN 'r' THEN ' FOR SELECT' WHEN 'a' THEN ' FOR INSERT' WHEN 'w' THEN ' FOR UPDATE' WHEN 'd' THEN ' FOR DELETE' END,
         CASE WHEN p.polroles <> '{0}' THEN ' TO ' || array_to_string(ARRAY(SELECT pg_get_userbyid(r) FROM unnest(p.polroles) r ORDER BY 1), ', ') END,
         ' USING (' || pg_get_expr(p.polqual, p.polrelid, true) || ')',
         ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid, true) || ')') AS text
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE c.relnamespace = $1::regnamespace
ORDER BY p.polname`;

const readTriggers = `
SELECT t.tgrelid::regclass::text AS table, pg_get_triggerdef(t.oid, true) AS text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal
ORDER BY t.tgname`;

const readColumnGrants = `
SELECT c.oid::regclass::text AS table, pg_get_userbyid(g.grantee) AS grantee, g.privilege_type AS privilege,
       quote_ident(a.attname) AS column
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
CROSS JOIN LATERAL aclexplode(a.attacl) g
WHERE c.relnamespace = $1::regnamespace AND g.grantee <> c.relowner
ORDER BY c.relname, a.attnum`;
