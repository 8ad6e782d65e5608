import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { runCaptured } from "@tidemark/local/toolcache";
import { isDeep } from "./depth.ts";
import { noteMissing } from "./require-servers.ts";
import { findPython, makeEnvironment } from "./python.ts";

const interpreter = await findPython(process.env);
if ("missing" in interpreter) await noteMissing(`Python: ${interpreter.missing}; not tested: Python environments`);

// Makes several environments with pip.
const testDeep: (name: string, run: () => Promise<void>) => void = isDeep ? test : () => {};

("missing" in interpreter ? describe.skip : describe)("an environment", () => {
  let cacheDir = "";
  let lines: string[] = [];
  beforeEach(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), "tidemark-python-"));
    lines = [];
  });
  afterEach(() => rm(cacheDir, { recursive: true, force: true }));

  const make = async (requirements: string) => {
    if ("missing" in interpreter) throw new Error(interpreter.missing);
    const file = join(cacheDir, "requirements.txt");
    await writeFile(file, requirements);
    const log = (line: string): void => void lines.push(line);
    return makeEnvironment({ interpreter, requirements: file, cacheDir, env: process.env, log });
  };
  const installations = () => lines.filter((line) => line.startsWith("Installing"));

  testDeep("is made once for all that ask, found again, and made again after an interruption", async () => {
    const [first, second] = await Promise.all([make("# nothing\n"), make("# nothing\n")]);
    expect(first).toEqual({ python: expect.stringContaining(cacheDir) });
    expect(second).toEqual(first);
    expect(installations()).toHaveLength(1);
    const { python } = first as { python: string };
    expect(await runCaptured(python, ["-m", "pip", "list", "--format=freeze"])).toMatchObject({ code: 0 });

    // A comment changes nothing.
    expect(await make("# still nothing\n\n")).toEqual(first);
    expect(installations()).toHaveLength(1);

    await rm(join(dirname(python), "../.complete"));
    expect(await make("")).toEqual(first);
    expect(installations()).toHaveLength(2);
  });

  test("whose packages are not available is one sentence, and the next attempt starts over", async () => {
    const requirements = "--no-index\ntidemark-has-no-such-package==1.0\n";
    expect(await make(requirements)).toEqual({ missing: expect.stringContaining("could not be installed") });
    const [key] = await readdir(join(cacheDir, "python"));
    expect(await readdir(join(cacheDir, "python", key ?? ""))).not.toContain(".complete");
  });
});
