import pg from "pg";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import {
  boolArray,
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
  composite,
  field,
} from "./binary-array.ts";
import { createDb, type Db } from "./db.ts";
import { sql, binarySql } from "./statement.ts";

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
  db = createDb({ url: database.url, role: "tidemark_ingest", application: "test", connectionsMax: 2 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const numbersBack = sql("test_float8_array", "SELECT $1::float8[] AS back");
const bytesBack = sql("test_bytea_array", "SELECT b AS back FROM unnest($1::bytea[]) AS b");
const textsBack = sql("test_text_array", "SELECT to_json($1::text[]) AS back");

test.each([
  ["no numbers", []],
  ["one", [0.1]],
  ["whole numbers, fractions and signs", [1, -2.5, 0, 1e300]],
  ["the ends of a double", [Number.MAX_VALUE, Number.MIN_VALUE, -Number.MAX_VALUE]],
  ["what is not a finite number", [Infinity, -Infinity, Number.NaN]],
])("PostgreSQL reads an array of %s as it is", async (_, numbers) => {
  expect(await db.one(numbersBack, [float8Array(Float64Array.from(numbers))])).toEqual({ back: numbers });
});

test.each([
  ["no texts", []],
  ["texts with quotes, commas, braces and backslashes", ['a"b', "a,b", "{}", "\\", "NULL", ""]],
  ["texts beyond ASCII", ["é", "\uFF5E", "\u{1F600}", "ключ"]],
  ["nulls between texts", ["a", null, "b", null]],
])("PostgreSQL reads an array of %s as it is", async (_, texts) => {
  const row = await db.one<{ back: string }>(textsBack, [textArray(texts)]);
  expect(JSON.parse(row!.back)).toEqual(texts);
});

test.each([
  ["no byte strings", []],
  ["byte strings of any bytes and lengths", ["", "\0\\x00\u00ff", "x".repeat(5000)]],
])("PostgreSQL reads an array of %s as it is", async (_, texts) => {
  const bytes = texts.map((text) => Buffer.from(text, "latin1"));
  const rows = await db.rows<{ back: Buffer }>(bytesBack, [byteaArray(bytes)]);
  expect(rows.map(({ back }) => back.toString("latin1"))).toEqual(texts);
});

const integersBack = sql("test_int4_array", "SELECT $1::int4[] AS back");
const longsBack = sql("test_int8_array", "SELECT to_json($1::int8[]) AS back");
const truthsBack = sql("test_bool_array", "SELECT to_json($1::boolean[]) AS back");
const idsBack = sql("test_uuid_array", "SELECT to_json($1::uuid[]) AS back");
const ID = "0189d3f0-9a2b-7c4d-8e5f-0123456789ab";

test.each([
  ["no whole numbers", integersBack, int4Array([]), []],
  ["whole numbers", integersBack, int4Array([1, -2, 2 ** 31 - 1]), [1, -2, 2 ** 31 - 1]],
  ["large whole numbers", longsBack, int8Array([0, -1, 2 ** 53 - 1]), "[0,-1,9007199254740991]"],
  ["truth values", truthsBack, boolArray([true, false]), "[true,false]"],
  ["no truth values", truthsBack, boolArray([]), "[]"],
  ["ids", idsBack, uuidArray([ID, ID.toUpperCase()]), `["${ID}","${ID}"]`],
])("%s arrive as they were", async (_, statement, parameter, back) => {
  expect(await db.one(statement, [parameter])).toEqual({ back });
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
