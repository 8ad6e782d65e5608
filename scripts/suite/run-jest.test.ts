import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { depthVariable } from "@tidemark/testkit";
import { runJest } from "./run-jest.ts";

const root = dirname(dirname(import.meta.dirname));
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-jest-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the given test files (name -> text) as a separate project. */
async function run(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
) {
  await mkdir(join(folder, "scratch"));
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  const config = {
    runner: join(root, "node_modules/jest-light-runner/src/index.js"),
    setupFiles: [join(root, "scripts/jest/setup.ts")],
    transform: {},
    testMatch: ["**/*.test.js"],
  };
  await writeFile(join(folder, "jest.config.mjs"), `export default ${JSON.stringify(config)};`);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return runJest({
    folder,
    program: join(root, "node_modules/jest/bin/jest.js"),
    args,
    environment: { NOTE_FILE: join(folder, "note"), [depthVariable]: "", ...environment },
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

test("what Jest's own package exports and fast-check are there, and test files share their modules", async () => {
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const counted = `import { expect, test } from "@jest/globals"; import fc from "fast-check"; import { next } from "./shared.js";
    test("1", () => { expect(next()).toBe(Number(process.env.TEST_AT)); process.env.TEST_AT = "2"; });
    test("2", () => { let cases = 0; fc.assert(fc.property(fc.nat(), () => void (cases += 1)), { numRuns: 50 }); expect(cases).toBe(10); });`;
  const files = {
    "a.test.js": counted,
    "b.test.js": counted,
    "shared.js": "let n = 0; export const next = () => (n += 1);",
  };
  expect(await run(files, ["--maxWorkers=1"], { TEST_AT: "1" })).toEqual({ passed: 4, failed: 0, skipped: 0 });
});

test("a test that hangs ends, an unhandled rejection fails its test, and the next test runs", async () => {
  const text = `test("1", () => new Promise(() => {}), 50); test("2", () => { void Promise.reject(new Error("lost")); });
    test("3", () => {}); test("4", async () => { const late = Promise.reject(new Error()); await null; await late.catch(() => {}); });`;
  expect(await run({ "a.test.js": text })).toEqual({ passed: 2, failed: 2, skipped: 0 });
});

test("an uncaught error fails its test, and the thread continues", async () => {
  const text = `import { threadId } from "node:worker_threads"; const threads = new Set();
    const later = () => setTimeout(() => { throw new Error("lost"); });
    test("1", () => { threads.add(threadId); later(); return new Promise(() => {}); }); test("2", () => new Promise((done) => { later(); setTimeout(done, 50); }));
    test("3", () => { threads.add(threadId); expect(threads.size).toBe(1); });`;
  expect(await run({ "a.test.js": text })).toEqual({ passed: 1, failed: 2, skipped: 0 });
});

test("a run that finds no tests is a failure", async () => {
  expect(await run({})).toEqual({ passed: 0, failed: 1, skipped: 0 });
});
