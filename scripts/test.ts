import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { missingFileVariable, readMissingNotices, runSuite } from "./suite/run-suite.ts";
import { runJest } from "./suite/run-jest.ts";
import { staticSteps } from "./suite/static-steps.ts";

// npm test                       static steps, then all tests
// npm test -- --static           static steps alone (npm run check)
// npm test -- <arguments>        tests alone; the arguments are Jest's, usually a part of a path
// npm test -- --inspect <path>   these tests in one process that waits for a debugger
const root = dirname(import.meta.dirname);
const args = process.argv.slice(2);
const onlyStatic = args.length === 1 && args[0] === "--static";
const everything = args.length === 0;
const inspect = args.filter((argument) => argument.startsWith("--inspect"));
const jestArgs = args.filter((argument) => !argument.startsWith("--inspect"));

const scratch = await mkdtemp(join(tmpdir(), "tidemark-test-"));
const missingFile = join(scratch, "missing");
try {
  const passed = await runSuite({
    steps: onlyStatic || everything ? staticSteps(root) : [],
    runTests: onlyStatic
      ? undefined
      : () =>
          runJest({
            folder: root,
            program: join(root, "node_modules/jest/bin/jest.js"),
            // --ci: a missing snapshot is a failure, not a new file.
            args: everything ? ["--ci"] : inspect.length > 0 ? ["--runInBand", ...jestArgs] : jestArgs,
            nodeOptions: inspect.map((option) => option.replace(/^--inspect(?=$|=)/, "--inspect-brk")),
            // Everything that tests need is obtained before the first of them, so that none runs beside a build.
            environment: { [missingFileVariable]: missingFile, ...(everything ? { TIDEMARK_TEST_OBTAIN: "1" } : {}) },
            scratch,
            report: "inherit",
          }),
    missing: () => readMissingNotices(missingFile),
    missingFails: process.env["CI"] === "true",
    print: (line) => console.log(line),
  });
  process.exitCode = passed ? 0 : 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
