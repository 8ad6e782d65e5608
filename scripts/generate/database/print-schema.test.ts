import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, postgresMajor, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { withCatalog } from "./schema-files.ts";
import { printSchema } from "./print-schema.ts";

const statements = `
CREATE SCHEMA shop;
GRANT USAGE ON SCHEMA shop TO tidemark_runs, tidemark_ingest;
CREATE TYPE shop.size AS ENUM ('small', 'large');
CREATE TYPE shop.weight AS (grams integer, note text);
CREATE TABLE shop.articles (
  org_id uuid NOT NULL,
  id bigint CHECK (id > 0),
  name text COLLATE "C" NOT NULL DEFAULT '',
  twice bigint GENERATED ALWAYS AS (id * 2) STORED,
  picture bytea STORAGE EXTERNAL,
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70, toast.autovacuum_enabled = false);
COMMENT ON TABLE shop.articles IS 'what is sold';
COMMENT ON COLUMN shop.articles.name IS 'as printed';
CREATE UNIQUE INDEX articles_names ON shop.articles (org_id, name DESC) WHERE name <> '';
SELECT platform.fence('shop.articles');
CREATE POLICY readers ON shop.articles FOR SELECT TO tidemark_ingest USING (true);
CREATE FUNCTION shop.stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NEW;
END
$$;
CREATE TRIGGER stamp BEFORE UPDATE ON shop.articles FOR EACH ROW EXECUTE FUNCTION shop.stamp();
GRANT SELECT, INSERT ON shop.articles TO tidemark_runs, tidemark_control;
GRANT SELECT (id, name), UPDATE (name) ON shop.articles TO tidemark_ingest;
CREATE VIEW shop.articles_v1 WITH (security_invoker = true) AS SELECT 1 AS one;
ALTER VIEW shop.articles_v1 OWNER TO tidemark_definer;
CREATE FUNCTION shop.price_v1(article bigint) RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog RETURN article * 3;
REVOKE ALL ON FUNCTION shop.price_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION shop.price_v1 TO tidemark_runs;
CREATE FUNCTION shop.price_v1(article text) RETURNS bigint LANGUAGE sql AS 'SELECT 1';
`;

const printed = `CREATE SCHEMA shop;
GRANT USAGE ON SCHEMA shop TO tidemark_ingest, tidemark_runs;

CREATE TYPE shop.size AS ENUM ('small', 'large');

CREATE TYPE shop.weight AS (grams integer, note text);

-- what is sold
CREATE TABLE shop.articles (
  org_id uuid NOT NULL,
  id bigint NOT NULL,
  -- as printed
  name text COLLATE "C" DEFAULT ''::text NOT NULL,
  twice bigint GENERATED ALWAYS AS (id * 2) STORED,
  picture bytea STORAGE EXTERNAL,
  CONSTRAINT articles_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT articles_id_check CHECK (id > 0)
) WITH (fillfactor=70, toast.autovacuum_enabled=false);
CREATE UNIQUE INDEX articles_names ON shop.articles (org_id, name DESC) WHERE name <> ''::text;
ALTER TABLE shop.articles ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.articles FORCE ROW LEVEL SECURITY;
CREATE POLICY readers ON shop.articles FOR SELECT TO tidemark_ingest USING (true);
CREATE POLICY tenant ON shop.articles USING (org_id = platform.org_id()) WITH CHECK (org_id = platform.org_id());
CREATE TRIGGER stamp BEFORE UPDATE ON shop.articles FOR EACH ROW EXECUTE FUNCTION shop.stamp();
GRANT SELECT, INSERT ON TABLE shop.articles TO tidemark_control, tidemark_runs;
GRANT SELECT (id, name), UPDATE (name) ON TABLE shop.articles TO tidemark_ingest;

CREATE VIEW shop.articles_v1 WITH (security_invoker=true) AS
 SELECT 1 AS one;
ALTER VIEW shop.articles_v1 OWNER TO tidemark_definer;

CREATE FUNCTION shop.price_v1(article bigint)
RETURNS bigint
LANGUAGE sql
STABLE
SET search_path TO 'pg_catalog'
RETURN (article * 3);
REVOKE ALL ON FUNCTION shop.price_v1(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION shop.price_v1(bigint) TO tidemark_runs;

CREATE FUNCTION shop.price_v1(article text)
RETURNS bigint
LANGUAGE sql
AS $function$SELECT 1$function$;

CREATE FUNCTION shop.stamp()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN NEW;
END
$function$;
`;

// It is printed from the PostgreSQL of a new data folder; older ones know less.
const describePrinting = postgresMajor === undefined ? describe : describe.skip;

describePrinting("the text of a schema", () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(statements);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const print = (schema: string): Promise<string> =>
    withCatalog(database.url, (catalog) => printSchema(catalog, schema));

  test("shows every object with its rules, its owner where that is not the migrating role, and who may do what", async () => {
    expect(await print("shop")).toBe(printed);
  });

  test("is refused for a schema with an object of a kind that it cannot show", async () => {
    await client.query("CREATE SCHEMA odd; CREATE SEQUENCE odd.numbers; CREATE DOMAIN odd.positive AS integer");
    await expect(print("odd")).rejects.toThrow("print-schema.ts cannot print sequence odd.numbers, type odd.positive");
  });
});
