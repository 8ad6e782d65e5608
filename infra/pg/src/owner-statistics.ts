import type pg from "pg";

/**
 * How many different values PostgreSQL must assume in the columns that identify a row's owner, regardless of the data. A plan that does not depend on
 * values is made for the average owner, and among thousands of small organizations that one has a handful of rows: reading all of them and sorting
 * them looks as good as a walk of the right index, and joining them all as good as looking up a few. With these numbers each plan is made for an
 * organization with a tenth of all rows and a project with a hundredth: right for large ones, and small ones have few rows in any case. Not for one with
 * all rows, because then an index that does not begin with the organization would look as good as one that does.
 */
const ASSUMED_VALUES = { org_id: 10, project_id: 100 } as const;

const setMissing = `
  DO $$
  DECLARE
    c record;
  BEGIN
    FOR c IN
      SELECT t.oid::regclass AS name, t.reltuples > 0 AS filled, a.attname AS owner, o.assumed
      FROM pg_class t
      JOIN pg_attribute a ON a.attrelid = t.oid AND NOT a.attisdropped
      JOIN (VALUES ${Object.entries(ASSUMED_VALUES)
        .map(([column, values]) => `('${column}', ${values})`)
        .join(", ")}) AS o (column_name, assumed) ON o.column_name = a.attname
      WHERE t.relkind IN ('r', 'p') AND t.relnamespace = to_regnamespace('%SCHEMA%')
        AND NOT coalesce(a.attoptions, '{}') @> ARRAY['n_distinct=' || o.assumed]
    LOOP
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET (n_distinct = %s)', c.name, c.owner, c.assumed);
      IF c.filled THEN
        EXECUTE format('ANALYZE %s (%I)', c.name, c.owner);
      END IF;
    END LOOP;
  END
  $$`;

const SCHEMA = /^[a-z_]{1,63}$/;

/** Makes PostgreSQL plan for large organizations and projects in all tables of a schema that have an owner. Does nothing where this is already set. */
export async function planForLargeOwners(client: Pick<pg.Client, "query">, schema: string): Promise<void> {
  if (!SCHEMA.test(schema)) throw new Error(`not a schema name: ${schema}`);
  await client.query(setMissing.replace("%SCHEMA%", schema));
}
