import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openDataDirectory } from "./data-directory.ts";

let parent = "";
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "tidemark-data-"));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

describe("the data folder", () => {
  test("is created when it is missing, for its owner alone", async () => {
    const folder = join(parent, "a", "b");
    await (await openDataDirectory(folder, false)).release();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await (await openDataDirectory(folder, false)).release();
  });

  test("is not taken while another Tidemark has it, and --fresh then deletes nothing", async () => {
    const data = await openDataDirectory(parent, false);
    await writeFile(join(parent, "kept"), "");
    await expect(openDataDirectory(parent, false)).rejects.toThrow("is in use by another Tidemark");
    await expect(openDataDirectory(parent, true)).rejects.toThrow("is in use by another Tidemark");
    expect(await readdir(parent)).toContain("kept");
    await data.release();
  });

  test("is emptied by --fresh", async () => {
    await (await openDataDirectory(parent, false)).release();
    await writeFile(join(parent, "old"), "");
    await (await openDataDirectory(parent, true)).release();
    expect(await readdir(parent)).not.toContain("old");
  });

  test("is never a folder with other contents, with --fresh or without", async () => {
    await writeFile(join(parent, "thesis.tex"), "");
    for (const fresh of [false, true]) {
      await expect(openDataDirectory(parent, fresh)).rejects.toThrow("not a Tidemark data folder");
    }
    expect(await readdir(parent)).toContain("thesis.tex");
  });

  test("of another format is refused with a line that says so", async () => {
    await (await openDataDirectory(parent, false)).release();
    await writeFile(join(parent, "tidemark.json"), '{"format": 2}');
    await expect(openDataDirectory(parent, false)).rejects.toThrow(
      "another version of Tidemark (format 2, this one reads 1)",
    );
  });
});
