import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { fetchPackage, fetchedVersions, packageVersions } from "./fetch-package.mjs";

// An npm of the test's own: it does to the folder what npm does, and notes every call.
const fakeNpm = `
const fs = require("node:fs");
const path = require("node:path");
fs.appendFileSync(process.env.CALLS, process.argv.slice(2, 4).join(" ") + "\\n");
if (process.env.FAIL) { process.stderr.write(process.env.FAIL); process.exit(1); }
if (process.argv[2] === "view") { process.stdout.write(JSON.stringify(["1.0.0", "2.0.0-beta.1"])); process.exit(0); }
const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
for (const [folder, entry] of Object.entries(lock.packages)) {
  if (folder === "") continue;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(entry));
}
`;

let folder = "";
let cacheDir = "";
let env: NodeJS.ProcessEnv = {};
let lines: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetch-"));
  cacheDir = join(folder, "cache");
  lines = [];
  await writeFile(join(folder, "npm-cli.js"), fakeNpm);
  env = { npm_execpath: join(folder, "npm-cli.js"), CALLS: join(folder, "calls") };
});

afterEach(() => rm(folder, { recursive: true }));

const request = (): Parameters<typeof fetchPackage>[0] => ({
  name: "@scope/tool",
  version: "1.2.3",
  integrity: "sha512-x",
  title: "Tool 1.2.3",
  cacheDir,
  env,
  log: (line) => lines.push(line),
});
const calls = async (): Promise<string[]> => (await readFile(join(folder, "calls"), "utf8")).trim().split("\n");

test("asks npm for exactly the version and the checksum, without install scripts, and finds it in the cache afterwards", async () => {
  const packageDir = await fetchPackage(request());
  expect(packageDir).toBe(join(cacheDir, "packages/@scope+tool@1.2.3/node_modules/@scope/tool"));
  expect(JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"))).toEqual({
    version: "1.2.3",
    integrity: "sha512-x",
  });
  expect(await fetchPackage(request())).toBe(packageDir);
  expect(await calls()).toEqual(["ci --ignore-scripts"]);
  expect(await fetchedVersions({ name: "@scope/tool", cacheDir })).toEqual(["1.2.3"]);
});

test("five simultaneous requests make one download", async () => {
  const found = await Promise.all(Array.from({ length: 5 }, () => fetchPackage(request())));
  expect(new Set(found).size).toBe(1);
  expect(await calls()).toHaveLength(1);
  expect(await readdir(join(cacheDir, "packages"))).toEqual(["@scope+tool@1.2.3"]);
});

test("unfinished files of a killed process are removed", async () => {
  await mkdir(join(cacheDir, "packages/@scope+tool@1.2.3.partial-abc/node_modules"), { recursive: true });
  expect(await fetchedVersions({ name: "@scope/tool", cacheDir })).toEqual([]);
  await fetchPackage(request());
  expect(await readdir(join(cacheDir, "packages"))).toEqual(["@scope+tool@1.2.3"]);
});

test("a package that fails its preparation is not in the cache", async () => {
  const refused = fetchPackage({ ...request(), prepare: () => Promise.reject(new Error("does not run")) });
  await expect(refused).rejects.toThrow("does not run");
  expect(await readdir(join(cacheDir, "packages"))).toEqual([]);
});

test.each([
  [
    "no network",
    "npm error code ENOTFOUND\n",
    "Tool 1.2.3 could not be fetched: the package registry's name was not found (no network?)",
  ],
  [
    "an unknown fault",
    "npm error code EODD\nnpm error a strange thing\n",
    "Tool 1.2.3 could not be fetched: a strange thing",
  ],
])("%s is one line", async (_name, stderr, message) => {
  env["FAIL"] = stderr;
  await expect(fetchPackage(request())).rejects.toMatchObject({ name: "StartError", message });
});

test("a cache folder that cannot be created is one line", async () => {
  await writeFile(join(folder, "file"), "");
  const inside = join(folder, "file/cache");
  await expect(fetchPackage({ ...request(), cacheDir: inside })).rejects.toMatchObject({
    name: "StartError",
    message: `Tool 1.2.3 cannot be kept in the cache folder ${inside}: a file is where a folder should be (TIDEMARK_CACHE_DIR names another folder)`,
  });
});

test("all versions that the registry has can be requested", async () => {
  expect(await packageVersions({ name: "@scope/tool", title: "Tool", env })).toEqual(["1.0.0", "2.0.0-beta.1"]);
  env["FAIL"] = "npm error code ECONNREFUSED\n";
  await expect(packageVersions({ name: "@scope/tool", title: "Tool", env })).rejects.toMatchObject({
    name: "StartError",
  });
});
