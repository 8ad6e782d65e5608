import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { encodeLine } from "@tidemark/archive";
import { runCli } from "../run-cli.ts";
import { fixturesFolder, recordedSurroundings, temporaryFolder } from "../surroundings.fixture.ts";
import { startArchiveServer, type ArchiveServer } from "./archive-server.fixture.ts";

const POST = "POST /api/imports/archive";
const wandb = join(fixturesFolder, "wandb-0.31.0/data");

let server: ArchiveServer | undefined;
afterEach(() => server?.stop());

/** Runs an import against the server. */
async function run(from: string, surroundings = recordedSurroundings(), ...more: string[]) {
  const code = await runCli(["import", from, "--url", server!.url, "--key", "k", ...more], surroundings);
  return { code, text: [...surroundings.printed, ...surroundings.reported].join("\n") };
}

test("runs arrive with their bytes, and a repeat sends nothing", async () => {
  server = await startArchiveServer();
  const first = await run(wandb);
  expect(first).toMatchObject({ code: 0, text: expect.stringContaining("imported from wandb") });
  expect(server.runs.size).toBe(3);
  const named = server.lines.flatMap((line) =>
    line.line === "artifact" && line.sha256 !== undefined ? [line.sha256] : [],
  );
  expect(named.length).toBeGreaterThan(0);
  expect([...server.bytes.keys()].toSorted()).toEqual([...new Set(named)].toSorted());

  const again = await run(wandb);
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining("3 runs are there already") });
  expect(server.keys).toHaveLength(1);
});

test("only what is new is sent, and everything to another project", async () => {
  server = await startArchiveServer();
  const folder = temporaryFolder();
  cpSync(wandb, folder, { recursive: true });
  const main = "wandb/offline-run-20261122_231259-main";
  rmSync(join(folder, main), { recursive: true });
  await run(folder);
  expect(server.runs.size).toBe(2);
  cpSync(join(wandb, main), join(folder, main), { recursive: true });
  await run(folder);
  expect(server.runs.size).toBe(3);
  await run(folder, recordedSurroundings(), "--project", "other");
  expect(server.runs.size).toBe(6);
});

test.each(["break before", "break after", "busy"] as const)(
  "an accident is survived under the same key: %s",
  async (accident) => {
    let accidents = 2;
    server = await startArchiveServer((request) => (request === POST && accidents-- > 0 ? accident : undefined));
    expect(await run(wandb)).toMatchObject({ code: 0 });
    expect(new Set(server.keys).size).toBe(1);
    expect(server.lines.filter(({ line }) => line === "end")).toHaveLength(1);
  },
);

test("a command that ended before the answer arrived continues with the same archive", async () => {
  let isDown = true;
  server = await startArchiveServer((request) => (isDown && request === POST ? "break after" : undefined));
  const surroundings = recordedSurroundings();
  expect(await run(wandb, surroundings)).toMatchObject({ code: 1, text: expect.stringContaining("cannot be reached") });
  expect(server.bytes.size).toBe(0);
  isDown = false;
  expect(await run(wandb, surroundings)).toMatchObject({ code: 0, text: expect.stringContaining("going on") });
  expect(server.bytes.size).toBeGreaterThan(0);
  expect(new Set(server.keys).size).toBe(1);
});

test("bytes whose connection breaks are sent again", async () => {
  const broken = new Set<string>();
  server = await startArchiveServer((request) => {
    if (!request.startsWith("PUT") || broken.has(request)) return undefined;
    broken.add(request);
    return "break after";
  });
  expect(await run(wandb)).toMatchObject({ code: 0 });
  expect(server.bytes.size).toBe(broken.size);
});

test("nothing is sent in a dry run", async () => {
  server = await startArchiveServer();
  const { code, text } = await run(wandb, recordedSurroundings(), "--dry-run");
  expect(code).toBe(0);
  expect(text).toMatch(/would import from wandb into "pü": 3 runs, 545 points/);
  expect(text).not.toContain("not finite");
  expect(server.requests).toEqual([]);
});

test("an export is sent as it is, with the bytes next to it", async () => {
  server = await startArchiveServer();
  const source = recordedSurroundings();
  await run(wandb, source);
  const other = await startArchiveServer();
  const folder = temporaryFolder();
  writeFileSync(join(folder, "archive.ndjson"), server.lines.map((line) => encodeLine(line)).join(""));
  mkdirSync(join(folder, "bytes"));
  for (const [sha256, bytes] of server.bytes) writeFileSync(join(folder, "bytes", sha256), bytes);
  const lines = [...server.lines];
  await server.stop();
  server = other;
  expect(await run(folder)).toMatchObject({ code: 0, text: expect.stringContaining("imported an export") });
  expect(other.lines).toEqual(lines);
  expect(other.bytes.size).toBeGreaterThan(0);
});

test.each([
  ["no command", []],
  ["an unknown command", ["sync"]],
  ["an unknown option", ["import", wandb, "--fast"]],
  ["an unknown kind", ["import", wandb, "--kind", "excel"]],
  ["no path", ["import"]],
  ["an export of nothing", ["export"]],
  ["an address that is none", ["import", wandb, "--url", "ftp://x"]],
])("the exit code of a wrong use is 2: %s", async (_what, args) => {
  expect(await runCli(args, recordedSurroundings())).toBe(2);
});

test("unreadable files are reported", async () => {
  server = await startArchiveServer();
  expect(await run(join(fixturesFolder, "nowhere"))).toMatchObject({
    code: 1,
    text: expect.stringContaining("cannot be read"),
  });
  expect(await run(temporaryFolder())).toMatchObject({
    code: 1,
    text: expect.stringContaining("nothing that can be imported"),
  });
});

test("help is printed", async () => {
  const surroundings = recordedSurroundings();
  expect(await runCli(["import", "--help"], surroundings)).toBe(0);
  expect(surroundings.printed.join("\n")).toContain("tidemark import ./wandb --dry-run");
});
