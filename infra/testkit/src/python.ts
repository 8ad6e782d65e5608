import { homedir } from "node:os";
import { cacheDirectory } from "@tidemark/local";
import { findPython } from "./python/find-python.ts";
import { makeEnvironment } from "./python/make-environment.ts";
import { noteMissing } from "./require-servers.ts";

/** What a test needs from Python. */
export type PythonNeeds = {
  /** Path of a requirements file that pins everything by exact version; only wheels are installed. */
  readonly requirements: string;
  /** What is not tested without it, as the end of the run will say. */
  readonly leftOut: string;
};

/**
 * An interpreter (3.11 or newer; see findPython) with these packages, in an environment of its own in the shared cache; undefined where it cannot
 * be had, which is then noted. With CI=true a note fails the run, so that nothing is left out unseen.
 */
export async function requirePython({ requirements, leftOut }: PythonNeeds): Promise<{ python: string } | undefined> {
  const { env, platform } = process;
  const interpreter = await findPython(env);
  const cacheDir = cacheDirectory({ env, platform, home: homedir(), cwd: process.cwd() });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const made =
    "missing" in interpreter ? interpreter : await makeEnvironment({ interpreter, requirements, cacheDir, env, log });
  if (!("missing" in made)) return made;
  await noteMissing(`Python: ${made.missing}; not tested: ${leftOut}`);
  return undefined;
}
