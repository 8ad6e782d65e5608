import { registerHooks } from "node:module";
import { addEventHandler } from "jest-circus";
import { runGuarded } from "./guard.ts";

// Runs once in each thread, before its first test file.

/** Replacements for these packages in tests. `@jest/globals` works only inside Jest's own sandbox, which the runner does without. */
const replaced: Readonly<Record<string, string>> = {
  "@jest/globals": new URL("./globals.ts", import.meta.url).href,
  "fast-check": new URL("./fast-check.ts", import.meta.url).href,
};
registerHooks({
  resolve(specifier, context, next) {
    const url = replaced[specifier];
    return url === undefined || url === context.parentURL ? next(specifier, context) : { url, shortCircuit: true };
  },
});

// The runner has no time limit, and an unhandled rejection or an error that nothing catches would end the thread.
addEventHandler((event, { currentDescribeBlock }) => {
  if (event.name !== "add_test" && event.name !== "add_hook") return;
  const added = (event.name === "add_test" ? currentDescribeBlock.children : currentDescribeBlock.hooks).at(-1);
  if (added === undefined || added.type === "describeBlock") return;
  const fn = added.fn as (() => unknown) | undefined;
  if (fn !== undefined) added.fn = () => runGuarded(fn, added.timeout ?? undefined);
});
