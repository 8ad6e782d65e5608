import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { depthVariable } from "@tidemark/testkit";
import config from "../jest.config.mjs";
import { deepFiles, measuringFiles } from "@tidemark/test/suites";
import { missingFileVariable, readMissingNotices, runSuite } from "./suite/run-suite.ts";
import { addCounts, runJest, type Counts } from "./suite/run-jest.ts";
import { staticSteps } from "./suite/static-steps.ts";

// npm test                       static steps, then the tests that a change needs
// npm test -- --deep             static steps, then all tests with all their rounds, in both modes
// npm test -- --static           static steps alone (npm run check)
// npm test -- <arguments>        tests alone; the arguments are Jest's, usually a part of a path
// npm test -- --inspect <path>   these tests in one process that waits for a debugger
const root = dirname(import.meta.dirname);
const deep = process.argv.includes("--deep");
const args = process.argv.slice(2).filter((argument) => argument !== "--deep");
const onlyStatic = args.length === 1 && args[0] === "--static";
const everything = args.length === 0;
const inspect = args.filter((argument) => argument.startsWith("--inspect"));
const jestArgs = args.filter((argument) => !argument.startsWith("--inspect"));

// Jest's option replaces the list in its configuration.
const without = (files: readonly string[]): string[] =>
  [...config.testPathIgnorePatterns, ...files.map((file) => `/test/${file}$`)].map(
    (pattern) => `--testPathIgnorePatterns=${pattern}`,
  );

const scratch = await mkdtemp(join(tmpdir(), "tidemark-test-"));
const missingFile = join(scratch, "missing");

const jest = (arguments_: readonly string[]): Promise<Counts> =>
  runJest({
    folder: root,
    program: join(root, "node_modules/jest/bin/jest.js"),
    args: arguments_,
    nodeOptions: inspect.map((option) => option.replace(/^--inspect(?=$|=)/, "--inspect-brk")),
    // Everything that tests need is obtained before the first of them, so that none runs during a build.
    environment: {
      [missingFileVariable]: missingFile,
      ...(deep ? { [depthVariable]: "deep" } : {}),
      ...(everything ? { TIDEMARK_TEST_OBTAIN: "1" } : {}),
    },
    scratch,
    report: "inherit",
  });

async function runTests(): Promise<Counts> {
  if (!everything) return jest(inspect.length > 0 ? ["--runInBand", ...jestArgs] : jestArgs);
  // --ci: a missing snapshot is a failure, not a new file.
  const first = await jest(["--ci", ...without(deep ? measuringFiles : deepFiles)]);
  if (!deep) return first;
  const measured = await jest(["--ci", "--maxWorkers=1", ...measuringFiles.map((file) => `/test/${file}$`)]);
  return addCounts(first, measured);
}

try {
  const passed = await runSuite({
    steps: onlyStatic || everything ? staticSteps(root) : [],
    runTests: onlyStatic ? undefined : runTests,
    missing: () => readMissingNotices(missingFile),
    missingFails: process.env["CI"] === "true",
    print: (line) => console.log(line),
  });
  process.exitCode = passed ? 0 : 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
