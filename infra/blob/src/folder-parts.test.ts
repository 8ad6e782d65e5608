import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob, PartTag } from "./blob.ts";
import { collect, MiB, streamOf } from "./bodies.fixture.ts";
import { createFolderBlob } from "./index.ts";

const run = promisify(execFile);
const partBytes = 5 * MiB;
const first = randomBytes(partBytes);
const rest = randomBytes(321);
const unavailable = { name: "AppError", reason: "service_unavailable" };

let root = "";
let directory: string;
let blob: Blob;
let key: string;
let upload: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tidemark-blob-"));
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(async () => {
  directory = join(root, randomUUID());
  await begin();
});

async function begin(): Promise<void> {
  blob = createFolderBlob({ directory });
  key = `o/${randomUUID()}/${randomUUID()}`;
  upload = await blob.beginParts(key, { partBytes });
}
async function put(partNumber: number, body: Uint8Array): Promise<PartTag> {
  const { etag } = await blob.putPart(key, upload, partNumber, streamOf(body), { size: body.byteLength });
  return { partNumber, etag };
}
const stored = async (): Promise<Buffer> => collect((await blob.get(key))?.body);
const unfinished = async (): Promise<string[]> => readdir(join(directory, ".unfinished"));
async function folder(): Promise<string> {
  return join(directory, ".unfinished", (await unfinished())[0] ?? "");
}
/** Opens the folder as the next process does. */
function restart(): void {
  blob = createFolderBlob({ directory });
}

describe("a crash", () => {
  test("while the first part arrived leaves no part", async () => {
    await writeFile(join(await folder(), "data"), first.subarray(0, 100));
    restart();
    expect(await blob.listParts(key, upload)).toEqual([]);
    await blob.finishParts(key, upload, [await put(1, rest)]);
    expect((await stored()).equals(rest)).toBe(true);
  });

  test("before the note of a part had its name leaves the others", async () => {
    const one = await put(1, first);
    await put(2, rest);
    await rename(join(await folder(), "2"), join(await folder(), `2.${randomUUID()}`));
    restart();
    expect(await blob.listParts(key, upload)).toEqual([{ ...one, sizeBytes: partBytes }]);
  });

  test("while parts were made an object leaves the upload, which takes parts and is finished", async () => {
    const one = await put(1, first);
    await rename(join(await folder(), "data"), join(await folder(), "whole"));
    restart();
    expect(await blob.listParts(key, upload)).toHaveLength(1);
    const two = await put(2, rest);
    await rename(join(await folder(), "data"), join(await folder(), "whole"));
    restart();
    await blob.finishParts(key, upload, [one, two]);
    expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
    expect(await unfinished()).toEqual([]);
  });

  test("after an object had its name leaves the object, and the upload has ended", async () => {
    const one = await put(1, rest);
    await mkdir(join(directory, "o", key.split("/")[1] ?? ""), { recursive: true });
    await rename(join(await folder(), "data"), join(directory, key));
    restart();
    expect(await blob.listParts(key, upload)).toBeUndefined();
    await expect(blob.finishParts(key, upload, [one])).rejects.toMatchObject({ reason: "not_found" });
    await expect(put(2, rest)).rejects.toMatchObject({ reason: "not_found" });
    expect((await stored()).equals(rest)).toBe(true);
  });
});

test("parts that were dropped are missing when the object could not be created for another reason", async () => {
  const [one, two] = [await put(1, first), await put(2, rest)];
  // A file is where the folder of the organization should be.
  const inTheWay = join(directory, "o", key.split("/")[1] ?? "");
  await mkdir(join(directory, "o"));
  await writeFile(inTheWay, "x");
  await expect(blob.finishParts(key, upload, [one])).rejects.toMatchObject(unavailable);
  expect(await blob.listParts(key, upload)).toEqual([{ ...one, sizeBytes: partBytes }]);
  await put(3, rest);
  await expect(blob.finishParts(key, upload, [one, two])).rejects.toMatchObject({ reason: "bad_request" });
  await unlink(inTheWay);
  await blob.finishParts(key, upload, [one, await put(2, rest)]);
  expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
});

test("a part that another process writes again is missing until it has arrived", async () => {
  const one = await put(1, first);
  const other = createFolderBlob({ directory });
  async function* body(): AsyncGenerator<Uint8Array> {
    yield rest;
    await expect(other.finishParts(key, upload, [one])).rejects.toMatchObject({ reason: "bad_request" });
    yield first.subarray(rest.byteLength);
    expect(await other.listParts(key, upload)).toEqual([]);
  }
  const { etag } = await blob.putPart(key, upload, 1, body(), { size: partBytes });
  expect(etag).not.toBe(one.etag);
  await other.finishParts(key, upload, [{ partNumber: 1, etag }]);
  expect((await stored()).equals(Buffer.concat([rest, first.subarray(rest.byteLength)]))).toBe(true);
});

test("uploads into which nothing was written for a day are cleared away as a whole, and no younger ones", async () => {
  const [hour, now] = [3_600_000, Date.now()];
  const age = async (path: string, hours: number): Promise<void> =>
    utimes(path, new Date(now - hours * hour), new Date(now - hours * hour));
  await put(1, first);
  const old = await folder();
  await begin();
  await put(1, rest);
  const young = join(directory, ".unfinished", (await unfinished()).find((name) => !old.endsWith(name)) ?? "");
  for (const name of await readdir(old)) await age(join(old, name), 25);
  await age(old, 25);
  // The folder is as old as its last note; the data are younger.
  for (const name of await readdir(young)) await age(join(young, name), 25);
  await age(join(young, "data"), 23);
  await age(young, 25);
  restart();
  expect(await blob.ready()).toBe(true);
  expect((await unfinished()).map((name) => join(directory, ".unfinished", name))).toEqual([young]);
  expect(await blob.listParts(key, upload)).toHaveLength(1);
});

test("data that were lost under their notes end the upload", async () => {
  const one = await put(1, first);
  await unlink(join(await folder(), "data"));
  expect(await blob.listParts(key, upload)).toBeUndefined();
  await expect(blob.finishParts(key, upload, [one])).rejects.toMatchObject({ reason: "not_found" });
});

test("data that are shorter than their notes say are not made an object", async () => {
  const one = await put(1, first);
  await truncate(join(await folder(), "data"), 5);
  await expect(blob.finishParts(key, upload, [one])).rejects.toMatchObject(unavailable);
  expect(await blob.head(key)).toBeUndefined();
});

const small = await mountSmall();
afterAll(async () => {
  if (small === undefined) return;
  await run("umount", [small]);
  await rm(small, { recursive: true });
});
const describeWithSmall = small === undefined ? describe.skip : describe;

describeWithSmall("a full disk", () => {
  const room = small ?? "";
  beforeEach(async () => {
    for (const name of await readdir(room)) await rm(join(room, name), { recursive: true });
    directory = room;
    await begin();
  });
  const fill = async (): Promise<void> =>
    writeFile(join(room, "filling"), Buffer.alloc(32 * MiB)).catch(() => {
      // As much as there is room for.
    });

  test("refuses a part that has no room, and takes it when there is room", async () => {
    const one = await put(1, first);
    await fill();
    await expect(put(2, first)).rejects.toMatchObject({ ...unavailable, cause: { code: "ENOSPC" } });
    expect(await blob.listParts(key, upload)).toHaveLength(1);
    await rm(join(room, "filling"));
    await blob.finishParts(key, upload, [one, await put(2, rest)]);
    expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
  });

  test("refuses a part whose note has no room", async () => {
    await put(1, rest);
    await fill();
    // Takes one more page than before: the page of the previous note.
    await expect(put(1, first.subarray(0, 8_192))).rejects.toMatchObject({ ...unavailable, cause: { code: "ENOSPC" } });
    expect(await blob.listParts(key, upload)).toEqual([]);
    expect((await readdir(await folder())).filter((name) => name !== "data")).toEqual([]);
  });

  test("refuses a body that has no room, and leaves nothing of it", async () => {
    await blob.put(key, rest);
    await expect(blob.put(key, Buffer.alloc(64 * MiB))).rejects.toMatchObject(unavailable);
    expect((await stored()).equals(rest)).toBe(true);
    await blob.remove(key);
    expect(await unfinished()).toEqual([]);
  });

  test("does not prevent finishing the parts that arrived, or removing", async () => {
    const one = await put(1, first);
    await fill();
    await blob.finishParts(key, upload, [one]);
    expect((await stored()).equals(first)).toBe(true);
    await blob.remove(key);
    expect(await blob.head(key)).toBeUndefined();
  });
});

/** Mounts a file system of 16 MiB; undefined, with a warning, where that is not allowed. */
async function mountSmall(): Promise<string | undefined> {
  const room = await mkdtemp(join(tmpdir(), "tidemark-small-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", room]);
    return room;
  } catch (error) {
    await rm(room, { recursive: true });
    process.stderr.write(`NOT TESTED: a full disk, because nothing can be mounted here: ${String(error)}\n`);
    return undefined;
  }
}
