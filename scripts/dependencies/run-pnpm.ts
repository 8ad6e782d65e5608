import { homedir } from "node:os";
import { cacheDirectory, runCaptured } from "@tidemark/local/toolcache";
import { obtainPnpm } from "../launch/tools.mjs";
import { nodeFirst } from "../run-command.ts";

/** Runs the pinned pnpm in a folder; ends it after `limitMs` milliseconds, which is an exit code other than 0. */
export async function runPnpm(
  root: string,
  args: readonly string[],
  limitMs: number,
): Promise<{ code: number; stdout: string; output: string }> {
  const cacheDir = cacheDirectory({ env: process.env, platform: process.platform, home: homedir(), cwd: root });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const signal = AbortSignal.timeout(limitMs);
  try {
    const pnpm = await obtainPnpm({ cacheDir, log, signal });
    return await runCaptured(pnpm, [...args], { cwd: root, env: nodeFirst(), signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { code: 1, stdout: "", output: "no answer in time" };
  }
}
