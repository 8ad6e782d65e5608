import { spawn } from "node:child_process";
import { delimiter, dirname } from "node:path";

/** How a command ended; `output` is its standard output and error in order of arrival. */
export type CommandResult = { readonly exitCode: number; readonly output: string };

/**
 * Runs a Node program, named by its path, with the Node that runs this. Its child processes find the same Node first. Rejects
 * only if the process cannot be started; an end by a signal is exit code 1.
 */
export function runNode(program: string, args: readonly string[], cwd: string): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: nodeFirst(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const add = (chunk: string): void => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", add);
    child.stderr.setEncoding("utf8").on("data", add);
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode: exitCode ?? 1, output }));
  });
}

/** Returns the environment of this process with its own Node first on the path. */
export function nodeFirst(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter) };
}
