import { afterAll, beforeAll, describe } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import { startStack, type Mode, type Stack, type StackOptions } from "./stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

/**
 * Runs one suite in both modes, each on its own stack. Where the servers of split mode are not
 * available, that mode is left out and the end of the test run says so.
 */
export function describeModes(name: string, suite: (stack: () => Stack) => void, options: StackOptions = {}): void {
  const modes: Mode[] = servers === undefined ? ["embedded"] : ["embedded", "split"];
  describe.each(modes)(`${name}, %s`, (mode) => {
    let stack: Stack | undefined;
    beforeAll(async () => {
      stack = await startStack(mode, options);
    });
    afterAll(async () => {
      await stack?.stop();
    });
    suite(() => {
      if (stack === undefined) throw new Error("the stack did not start");
      return stack;
    });
  });
}
