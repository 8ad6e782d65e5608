import { type Catalog, type Owned, ownedColumns, ownerAndGrants, comment, wrap } from "./catalog.ts";
import { printTables } from "./print-tables.ts";

/**
 * Returns a schema of the connected database as text for people: types, tables with everything that belongs to them, views
 * and functions, each kind in the order of names. An owner is named only where it is not the role that migrates. The text is
 * meant to be read and compared, not executed: a function may follow a view that calls it.
 * @throws Error for an object of a kind that is not printed, so that no object is left out silently
 */
export async function printSchema(catalog: Catalog, schema: string): Promise<string> {
  const { rows: unknown } = await catalog.query<{ text: string }>(readUnknown, [schema]);
  if (unknown.length > 0) {
    throw new Error(`print-schema.ts cannot print ${unknown.map(({ text }) => text).join(", ")}`);
  }
  const print = async <Row extends object>(text: string, lines: (row: Row) => readonly string[]) =>
    (await catalog.query<Row>(text, [schema])).rows.map((row) => lines(row).join("\n"));
  const parts = [
    await print<Owned>(readNamespace, (row) => [`CREATE SCHEMA ${schema};`, ...ownerAndGrants("SCHEMA", schema, row)]),
    await print<Owned & Named>(readTypes, (row) => [
      ...comment(row.comment),
      wrap(`CREATE TYPE ${row.name} AS ${row.text};`),
      ...ownerAndGrants("TYPE", row.name, row),
    ]),
    await printTables(catalog, schema),
    await print<Owned & Named>(readViews, (row) => [
      ...comment(row.comment),
      `CREATE VIEW ${row.name}${row.options === "" ? "" : ` WITH (${row.options})`} AS`,
      row.text,
      ...ownerAndGrants("VIEW", row.name, row),
    ]),
    await print<Owned & Named & { public: boolean }>(readFunctions, (row) => [
      ...comment(row.comment),
      functionText(row.text),
      ...(row.public ? [] : [`REVOKE ALL ON FUNCTION ${row.name} FROM PUBLIC;`]),
      ...ownerAndGrants("FUNCTION", row.name, {
        ...row,
        grants: row.grants.filter(({ grantee }) => grantee !== "PUBLIC"),
      }),
    ]),
    await print<Owned & Named>(readAggregates, (row) => [
      ...comment(row.comment),
      wrap(`CREATE AGGREGATE ${row.name} (${row.text});`),
      ...ownerAndGrants("FUNCTION", row.name, {
        ...row,
        grants: row.grants.filter(({ grantee }) => grantee !== "PUBLIC"),
      }),
    ]),
  ];
  return `${parts.flat().join("\n\n")}\n`;
}

type Named = {
  readonly name: string;
  readonly text: string;
  readonly options: string;
  readonly comment: string | null;
};

/** Wraps the head of a function: PostgreSQL writes all arguments on one line and all result columns on another. */
function functionText(definition: string): string {
  const body = definition.search(/^(AS |BEGIN ATOMIC|RETURN )/m);
  const head = definition.slice(0, body).replace("CREATE OR REPLACE", "CREATE").trimEnd().split("\n");
  return `${[...head.map((line) => wrap(line.trim())), definition.slice(body).trimEnd()].join("\n")};`;
}

const readUnknown = `
SELECT pg_describe_object(d.classid, d.objid, 0) AS text
FROM pg_depend d
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = $1::regnamespace
  AND coalesce(c.relkind IN ('r', 'v', 'i', 'c'), t.typtype IN ('c', 'e'), p.prokind IN ('f', 'p', 'a'), false) IS FALSE
ORDER BY 1`;

const readNamespace = `
SELECT ${ownedColumns("n.nspowner", "n.nspacl")} FROM pg_namespace n WHERE n.oid = $1::regnamespace`;

// Standalone composite types, and enumerations.
const readTypes = `
SELECT t.oid::regtype::text AS name, obj_description(t.oid, 'pg_type') AS comment,
       CASE t.typtype
         WHEN 'e' THEN 'ENUM (' || (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
                                    FROM pg_enum e WHERE e.enumtypid = t.oid) || ')'
         ELSE '(' || (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
                      FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) || ')'
       END AS text,
       ${ownedColumns("t.typowner", "t.typacl")}
FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
WHERE t.typnamespace = $1::regnamespace AND (t.typtype = 'e' OR (t.typtype = 'c' AND c.relkind = 'c'))
ORDER BY t.typname`;

const readViews = `
SELECT c.oid::regclass::text AS name, obj_description(c.oid, 'pg_class') AS comment,
       coalesce(array_to_string(c.reloptions, ', '), '') AS options, pg_get_viewdef(c.oid, 120) AS text,
       ${ownedColumns("c.relowner", "c.relacl")}
FROM pg_class c
WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'v'
ORDER BY c.relname`;

// Unless it was taken back, every role may execute a function: PostgreSQL's default.
const readFunctions = `
SELECT CASE WHEN count(*) OVER (PARTITION BY p.proname) = 1 THEN p.oid::regproc::text ELSE p.oid::regprocedure::text END AS name,
       obj_description(p.oid, 'pg_proc') AS comment, pg_get_functiondef(p.oid) AS text,
       EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0) AS public,
       ${ownedColumns("p.proowner", "p.proacl")}
FROM pg_proc p
WHERE p.pronamespace = $1::regnamespace AND p.prokind <> 'a'
ORDER BY p.proname, p.oid::regprocedure::text`;

// Those that need no more than a function and a start.
const readAggregates = `
SELECT p.oid::regprocedure::text AS name, obj_description(p.oid, 'pg_proc') AS comment,
       concat_ws(', ', 'SFUNC = ' || a.aggtransfn, 'STYPE = ' || format_type(a.aggtranstype, NULL),
                 'FINALFUNC = ' || nullif(a.aggfinalfn::text, '-'), 'INITCOND = ' || quote_literal(a.agginitval)) AS text,
       ${ownedColumns("p.proowner", "p.proacl")}
FROM pg_proc p JOIN pg_aggregate a ON a.aggfnoid = p.oid
WHERE p.pronamespace = $1::regnamespace
ORDER BY p.proname, p.oid::regprocedure::text`;
