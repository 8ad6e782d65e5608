import { afterAll, beforeAll, describe } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import { attach, type Mode, type Stack } from "./attach.ts";
import { startStack, type OwnStack, type StackOptions } from "./stack.ts";

const servers = await requireServers(["nats-server", "minio"]);
const modes: Mode[] = servers === undefined ? ["embedded"] : ["embedded", "split"];

/**
 * Runs one suite in both modes, each on a stack that all such suites of a worker share: for tests that look at what they made themselves. Where the
 * servers of split mode are not available, that mode is left out and the end of the test run says so.
 */
export function describeModes(name: string, suite: (stack: () => Stack) => void): void {
  describe.each(modes)(`${name}, %s`, (mode) => {
    let stack: Stack | undefined;
    beforeAll(async () => {
      stack = attach(await globalThis.tidemarkSharedStack(mode));
    });
    suite(() => started(stack));
  });
}

/** As `describeModes`, each on its own stack: for tests that stop processes, need other settings, or count what others would add to. */
export function describeOwnModes(
  name: string,
  suite: (stack: () => OwnStack) => void,
  options: StackOptions = {},
): void {
  describe.each(modes)(`${name}, %s`, (mode) => {
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
