import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { composite, field } from "./composite-array.ts";
import { createDb, type Db } from "./db.ts";
import { binarySql, sql } from "./statement.ts";

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`
    CREATE TYPE public.test_thing AS (id uuid, place bigint, slot integer, is_new boolean, value double precision, name text, data bytea, numbers double precision[]);
    CREATE TYPE public.test_pair AS (a bigint, b double precision)`);
  await owner.end();
  db = createDb({ url: database.url, role: "tidemark_ingest", application: "test", connectionsMax: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

type Thing = {
  id: string;
  place: number;
  slot: number;
  isNew: boolean;
  value: number;
  name: string;
  data: Buffer;
  numbers: Float64Array;
};

const things = composite<Thing>("public.test_thing", {
  id: field.uuid(({ id }) => id),
  place: field.int8(({ place }) => place),
  slot: field.int4(({ slot }) => slot),
  is_new: field.bool(({ isNew }) => isNew),
  value: field.float8(({ value }) => value),
  name: field.text(({ name }) => name),
  data: field.bytea(({ data }) => data),
  numbers: field.float8Array(({ numbers }) => numbers),
});

const thingsBack = binarySql(
  "test_things",
  `SELECT id, place, slot, is_new AS "isNew", value, name, data, ARRAY(SELECT float8send(n) FROM unnest(numbers) n) = $2::bytea[] AS "areNumbers"
   FROM unnest($1::public.test_thing[])`,
);

const float8sOf = (numbers: Float64Array): Buffer[] =>
  Array.from(numbers, (number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(number);
    return bytes;
  });

const all: Thing[] = [
  {
    id: "0189d3f0-9a2b-7c4d-8e5f-0123456789ab",
    place: 2 ** 53 - 1,
    slot: 2 ** 31 - 1,
    isNew: true,
    value: Number.MIN_VALUE,
    name: 'a"b,(c)\\ключ\u{1F600}',
    data: Buffer.from("\0\\x00\u00ff", "latin1"),
    numbers: Float64Array.of(0.1, -0, Number.MAX_VALUE, Infinity, Number.NaN),
  },
  {
    id: "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF",
    place: -(2 ** 53 - 1),
    slot: -(2 ** 31),
    isNew: false,
    value: -0,
    name: "",
    data: Buffer.alloc(5000, 7),
    numbers: new Float64Array(),
  },
  ...[-1, 0, 1, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1].map((place) => ({
    id: "0189d3f0-9a2b-7c4d-8e5f-0123456789ab",
    place,
    slot: -1,
    isNew: false,
    value: Number.NaN,
    name: "x",
    data: Buffer.alloc(0),
    numbers: Float64Array.of(1),
  })),
];

test.each(all)("PostgreSQL reads a row as it is: $place", async (thing) => {
  const { numbers, id, ...rest } = thing;
  expect(await db.rows(thingsBack, [things.array([thing]), float8sOf(numbers)])).toEqual([
    { ...rest, id: id.toLowerCase(), areNumbers: true },
  ]);
});

test("PostgreSQL reads all rows in their order, and none where there are none", async () => {
  const back = await db.rows<Thing>(thingsBack, [things.array(all), []]);
  expect(back.map(({ place }) => place)).toEqual(all.map(({ place }) => place));
  expect(await db.rows(thingsBack, [things.array([]), []])).toEqual([]);
});

const pairsBack = sql("test_pairs", "SELECT count(*) FROM unnest($1::public.test_pair[])");
const number = ([value]: readonly [number]): number => value;

test.each([
  ["another type", "binary data has type 701", { a: field.float8(number), b: field.float8(number) }],
  ["fewer fields", "wrong number of columns: 1, expected 2", { a: field.int8(number) }],
  [
    "more fields",
    "wrong number of columns: 3, expected 2",
    { a: field.int8(number), b: field.float8(number), c: field.float8(number) },
  ],
])("PostgreSQL refuses rows with %s", async (_case, message, fields) => {
  const wrong = composite("public.test_pair", fields);
  await expect(db.rows(pairsBack, [wrong.array([[1]])])).rejects.toThrow(message);
});
