import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { boolArray, byteaArray, float8Array, int4Array, int8Array, textArray, uuidArray } from "./binary-array.ts";
import { createDb, type Db } from "./db.ts";
import { sql } from "./statement.ts";

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
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
