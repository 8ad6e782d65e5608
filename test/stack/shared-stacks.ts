import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@tidemark/testkit";
import { attach, type Address, type Mode, type Stack } from "./attach.ts";
import { startStack } from "./stack.ts";

const stacks = new Map<string, Promise<Stack>>();

/**
 * Returns the stack of a mode and settings that all test files of this run share. The first one that needs it starts it; it ends with the run, and so
 * does its folder.
 */
export function sharedStack(mode: Mode, settings: Readonly<Record<string, string>>): Promise<Stack> {
  const name = createHash("sha256")
    .update(JSON.stringify([mode, settings]))
    .digest("hex")
    .slice(0, 16);
  let stack = stacks.get(name);
  if (stack === undefined) {
    stack = findOrStart(name, mode, settings).then(attach);
    stacks.set(name, stack);
  }
  return stack;
}

/** Test files run in several threads: the one that can make the folder starts the stack, the others wait for its address. */
async function findOrStart(name: string, mode: Mode, settings: Readonly<Record<string, string>>): Promise<Address> {
  const parentDirectory = join(process.env["TIDEMARK_TEST_STACKS"]!, name);
  const file = join(parentDirectory, "address.json");
  const isFirst = await mkdir(parentDirectory).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const begun = await startStack(mode, { settings, parentDirectory }).then(
      ({ address }) => ({ address }),
      (error: unknown) => ({ fault: String(error) }),
    );
    await writeFile(`${file}.new`, JSON.stringify(begun));
    await rename(`${file}.new`, file);
  }
  const text = await until("the address of a stack that another thread starts", () => readFile(file, "utf8"));
  const found = JSON.parse(text) as { readonly address?: Address; readonly fault?: string };
  if (found.address === undefined) throw new Error(found.fault);
  return found.address;
}
