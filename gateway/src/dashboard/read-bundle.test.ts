import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readBundle } from "./read-bundle.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-bundle-"));
});
afterEach(() => rm(folder, { recursive: true }));

const write = async (text: string, bytes: number): Promise<void> => {
  const compressed = gzipSync(text);
  const file = { name: "main.A.js", type: "text/javascript", bytes, gzipBytes: compressed.length };
  const index = {
    files: [file],
    entry: "main.A.js",
    theme: "",
    style: "",
    pageStyle: "",
    signInPages: [],
    lateStyle: "",
    latePages: [],
    icon: "",
    parts: {},
  };
  await writeFile(join(folder, "main.A.js"), text);
  await writeFile(join(folder, "main.A.js.gz"), compressed);
  await writeFile(join(folder, "index.json"), JSON.stringify(index));
};

test("a bundle is read with all its files", async () => {
  await write("code", 4);
  const { assets, entry } = await readBundle(folder);
  expect(entry).toBe("main.A.js");
  expect(assets.get("main.A.js")).toMatchObject({ type: "text/javascript", plain: Buffer.from("code") });
});

test("a bundle that is not whole is refused at the start", async () => {
  await expect(readBundle(folder)).rejects.toThrow("index.json");
  await write("co", 4);
  await expect(readBundle(folder)).rejects.toThrow("is not what the index of the dashboard says");
});
