import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { testSql } from "@tidemark/testkit";
import { startIngest, type IngestFixture } from "../../ingest.fixture.ts";
import { groupRows } from "./store-group.sql.ts";

let ingest: IngestFixture;

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

const arrayParameters = testSql(
  `SELECT json_object_agg(a.name, t.typelem::regtype::text ORDER BY a.n) AS types
   FROM pg_proc p, unnest(p.proargnames, p.proargtypes::oid[]) WITH ORDINALITY AS a (name, type, n) JOIN pg_type t ON t.oid = a.type
   WHERE p.oid = 'ingest.append_metric_group'::regproc AND t.typcategory = 'A'`,
);
const attributes = testSql(
  `SELECT json_object_agg(a.attname, format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS fields
   FROM pg_attribute a JOIN pg_type t ON t.typrelid = a.attrelid WHERE t.oid = $1::regtype`,
);

test("append_metric_group takes arrays of the declared types, in their order", async () => {
  const { types } = (await ingest.owner.one<{ types: string }>(arrayParameters, []))!;
  expect(Object.entries(JSON.parse(types) as object)).toEqual(
    Object.entries(groupRows).map(([parameter, { name }]) => [parameter, name]),
  );
});

test.each(Object.values(groupRows))(
  "the fields of $name are the attributes of the type, in their order",
  async (declared) => {
    const { fields } = (await ingest.owner.one<{ fields: string }>(attributes, [declared.name]))!;
    expect(Object.entries(JSON.parse(fields) as object)).toEqual(
      Object.entries(declared.fields).map(([field, { type }]) => [field, type]),
    );
  },
);
