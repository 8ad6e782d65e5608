import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { isDeep, requireServers } from "@tidemark/testkit";
import { relative } from "node:path";
import { modesOf } from "../suites.ts";
import type { Mode, Stack } from "./attach.ts";
import { sharedStack } from "./shared-stacks.ts";
import { inSplitMode, quick } from "./settings.ts";
import { startStack, type OwnStack, type StackOptions } from "./stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** The modes in which the tests of the file run that is being loaded. Without the servers of split mode that is left out, and the end of the run says so. */
export function modesHere(): readonly Mode[] {
  const file = relative(`${import.meta.dirname}/..`, expect.getState().testPath ?? "");
  const modes = isDeep ? (["embedded", "split"] as const) : modesOf(file);
  return servers === undefined ? modes.filter((mode) => mode === "embedded") : modes;
}

/** Those of the product. */
const defaults: Readonly<Record<string, string>> = {};

/**
 * Runs one suite in the modes of its file (test/suites.ts), on a stack that all suites of a thread with these settings share: for tests that look
 * at what they made themselves.
 */
export function describeModes(
  name: string,
  suite: (stack: () => Stack) => void,
  settings: Readonly<Record<string, string>> = defaults,
): void {
  describe.each(modesHere())(`${name}, %s`, (mode) => {
    let stack: Stack | undefined;
    beforeAll(async () => {
      const isUsual = settings === defaults || settings === quick;
      stack = await sharedStack(mode, mode === "split" && isUsual ? await inSplitMode() : settings);
    });
    suite(() => started(stack));
  });
}

/** As `describeModes`, each on its own stack: for tests that stop processes, or count what others would add to. */
export function describeOwnModes(
  name: string,
  suite: (stack: () => OwnStack) => void,
  options: StackOptions = {},
): void {
  describe.each(modesHere())(`${name}, %s`, (mode) => {
    let stack: OwnStack | undefined;
    beforeAll(async () => {
      stack = await startStack(mode, options);
    });
    afterAll(async () => {
      await stack?.stop();
    });
    suite(() => started(stack));
  });
}

function started<T>(stack: T | undefined): T {
  if (stack === undefined) throw new Error("the stack did not start");
  return stack;
}
