import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { runJest } from "./run-jest.ts";

const root = dirname(dirname(import.meta.dirname));
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-jest-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the given test files (name -> text) as a separate project. */
async function run(files: Readonly<Record<string, string>>, args: readonly string[] = []) {
  await mkdir(join(folder, "scratch"));
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  await writeFile(join(folder, "jest.config.mjs"), `export default { transform: {}, testMatch: ["**/*.test.js"] };`);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return runJest({
    folder,
    program: join(root, "node_modules/jest/bin/jest.js"),
    args: ["--runInBand", ...args],
    environment: { NOTE_FILE: join(folder, "note") },
    scratch: join(folder, "scratch"),
    report: "ignore",
  });
}

test("every test of every file is counted, also a file that cannot be loaded", async () => {
  const counts = await run({
    "a.test.js": `test("1", () => {}); test("2", () => {}); test.skip("3", () => {}); test("4", () => { throw new Error(); });`,
    "b.test.js": `import "./nowhere.js"; test("5", () => {});`,
  });
  expect(counts).toEqual({ passed: 2, failed: 2, skipped: 1 });
});

test("arguments choose the tests, and the environment reaches them", async () => {
  const note = `import { writeFileSync } from "node:fs"; test("1", () => writeFileSync(process.env.NOTE_FILE, "seen"));`;
  const counts = await run({ "a.test.js": note, "b.test.js": `test("2", () => { throw new Error(); });` }, ["a.test"]);
  expect(counts).toEqual({ passed: 1, failed: 0, skipped: 0 });
  expect(await readFile(join(folder, "note"), "utf8")).toBe("seen");
});

test("a run that finds no tests is a failure", async () => {
  expect(await run({})).toEqual({ passed: 0, failed: 1, skipped: 0 });
});
