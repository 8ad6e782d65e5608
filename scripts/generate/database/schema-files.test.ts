import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { generatedFiles } from "../generated.ts";
import { renderSchemaFiles } from "./schema-files.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tidemark-schema-files-"));
  await mkdir(join(root, "shop/migrations"), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const write = (file: string, text: string): Promise<void> => writeFile(join(root, "shop", file), text);
const schemaFiles = () =>
  generatedFiles(root, "schema.sql", () =>
    renderSchemaFiles(root, [{ schema: "shop", directory: join(root, "shop") }]),
  );

test("until its baseline is frozen, schema.sql is written by hand", async () => {
  await write("schema.sql", "CREATE SCHEMA shop; -- by hand");
  expect(await schemaFiles().check()).toEqual([]);
});

test("afterwards it is out of date when baseline and migrations make something else", async () => {
  await write("schema.sql", "CREATE SCHEMA shop;");
  await write("baseline.sql", "CREATE SCHEMA shop; CREATE TABLE shop.articles (id bigint);");
  await write("migrations/0001_names.sql", "ALTER TABLE shop.articles ADD COLUMN name text;");
  expect(await schemaFiles().check()).toEqual(["out of date: shop/schema.sql"]);
  await schemaFiles().write();
  expect(await schemaFiles().check()).toEqual([]);
  await write("migrations/0002_prices.sql", "ALTER TABLE shop.articles ADD COLUMN price numeric;");
  expect(await schemaFiles().check()).toEqual(["out of date: shop/schema.sql"]);
});
