import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { tryLock, withLock } from "./lock.mjs";
import { processIdentity } from "./process-identity.mjs";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lock-"));
  path = join(folder, "the.lock");
});

afterEach(() => rm(folder, { recursive: true }));

async function deadPid(): Promise<number> {
  const child = spawn("true");
  await once(child, "exit");
  return Number(child.pid);
}

test("a free lock is taken, and its file is gone when it is given back", async () => {
  const taken = await tryLock(path);
  expect("lock" in taken).toBe(true);
  expect(await readdir(folder)).toEqual(["the.lock"]);
  if ("lock" in taken) await taken.lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test("a lock held by a living process names that process", async () => {
  const first = await tryLock(path);
  const second = await tryLock(path);
  expect(second).toEqual({ holder: processIdentity() });
  if ("lock" in first) await first.lock.release();
});

const here = processIdentity();
test.each([
  ["has died", async () => ({ ...here, pid: await deadPid() })],
  ["has died and whose process id went to another one", () => ({ ...here, started: "1" })],
  ["was running before the last boot", () => ({ ...here, boot: "another boot" })],
])("the lock of a process that %s is taken over immediately", async (_name, holder) => {
  await writeFile(path, JSON.stringify(await holder()));
  const taken = await tryLock(path);
  expect("lock" in taken).toBe(true);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual(here);
  if ("lock" in taken) await taken.lock.release();
});

test("the lock of another machine holds while it is touched and is taken over when it is not", async () => {
  await writeFile(path, JSON.stringify({ ...here, host: "elsewhere" }));
  const beat = setInterval(() => void writeFile(path, JSON.stringify({ ...here, host: "elsewhere" })), 200);
  const refused = await tryLock(path);
  clearInterval(beat);
  expect(refused).toEqual({ holder: { ...here, host: "elsewhere" } });
  const taken = await tryLock(path);
  expect("lock" in taken).toBe(true);
  if ("lock" in taken) await taken.lock.release();
});

test("of many that find the same stale lock, one at a time enters", async () => {
  await writeFile(path, JSON.stringify({ ...here, pid: await deadPid() }));
  let inside = 0;
  let most = 0;
  const enter = (): Promise<void> =>
    withLock(path, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await readFile(path);
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 8 }, enter));
  expect(most).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test("the lock is given back when the work fails, and waiting can be called off", async () => {
  await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const first = await tryLock(path);
  const controller = new AbortController();
  const waiting = withLock(path, () => Promise.resolve(1), {
    signal: controller.signal,
    onWait: () => controller.abort(),
  });
  await expect(waiting).rejects.toThrow("aborted");
  if ("lock" in first) await first.lock.release();
});
