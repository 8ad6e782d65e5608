import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blobContract } from "./blob.contract.ts";
import { createFolderBlob } from "./index.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tidemark-blob-"));
});
afterAll(() => rm(root, { recursive: true }));

describe("the object store in a folder", () => {
  blobContract(async () => createFolderBlob({ directory: join(root, "contract", "deep") }));

  test("leaves no unfinished file, even after a failure", async () => {
    expect(await readdir(join(root, "contract", "deep", ".unfinished"))).toEqual([]);
  });

  test("clears away what a crash left unfinished a day ago, and not what another process is writing", async () => {
    const directory = join(root, "crashed");
    await mkdir(join(directory, ".unfinished"), { recursive: true });
    await writeFile(join(directory, ".unfinished", "old"), "x");
    await writeFile(join(directory, ".unfinished", "new"), "x");
    await utimes(join(directory, ".unfinished", "old"), new Date(0), new Date(0));
    expect(await createFolderBlob({ directory }).ready()).toBe(true);
    expect(await readdir(join(directory, ".unfinished"))).toEqual(["new"]);
  });

  test("a folder that cannot be created is not ready, refuses with service_unavailable, and is tried again", async () => {
    const directory = join(root, "file");
    await writeFile(directory, "a file is in the way");
    const blob = createFolderBlob({ directory });
    const key = `o/${randomUUID()}/${randomUUID()}`;
    expect(await blob.ready()).toBe(false);
    const refusal: unknown = await blob.put(key, new Uint8Array(1)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "AppError", reason: "service_unavailable" });
    expect((refusal as Error).cause).toMatchObject({ code: "ENOTDIR" });
    await rm(directory);
    await blob.put(key, new Uint8Array(1));
    expect(await blob.ready()).toBe(true);
  });
});
