import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, runNode } from "../run-command.ts";
import { type FileTree, readTree } from "./generated.ts";

/** Runs buf, as the proto package has it installed, on the proto folder of the repository. Needs no network. */
export function buf(root: string, args: readonly string[]): Promise<CommandResult> {
  const proto = join(root, "proto");
  return runNode(join(proto, "node_modules/@bufbuild/buf/bin/buf"), args, proto);
}

/** Returns the JavaScript and the declarations of the .proto files, by path below proto/src/gen. */
export async function renderProto(root: string): Promise<FileTree> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-proto-"));
  try {
    const { exitCode, output } = await buf(root, ["generate", "--output", folder]);
    if (exitCode !== 0) throw new Error(`buf generate failed:\n${output}`);
    return await readTree(join(folder, "src/gen"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
