import { join } from "node:path";
import { auditDependencies, readPackages } from "../dependencies/pnpm.ts";
import { judgeLicenses } from "../dependencies/licenses.rules.ts";
import { buf } from "../generate/buf.ts";
import { generatedOutputs } from "../generate/outputs.ts";
import { readSchemaModules, readServiceFiles, judgeReads } from "../imports/schema-reads.ts";
import { type Fault, judge } from "../imports/rules.ts";
import { readWorkspace } from "../imports/workspace.ts";
import { type CommandResult, runNode } from "../run-command.ts";

/** Something to check without running the code; it counts as one test. */
export type StaticStep = { readonly name: string; readonly run: () => Promise<StepResult> };

/** How it ended. `unasked` says why an external service that it needs did not answer: then nothing was checked, which is neither a failure nor a success. */
export type StepResult = CommandResult & { readonly unasked?: string };

/** Returns the checks that run before the tests, in this order. */
export function staticSteps(root: string): readonly StaticStep[] {
  const tool = (path: string, ...args: string[]) => runNode(join(root, "node_modules", path), args, root);
  return [
    { name: "format", run: () => tool("oxfmt/bin/oxfmt", "--check") },
    { name: "types", run: () => tool("typescript/bin/tsc", "--noEmit", "-p", ".") },
    { name: "lint", run: () => tool("oxlint/bin/oxlint", "--type-aware", "--deny-warnings") },
    { name: "import rules", run: async () => fromLines(await importFaults(root)) },
    { name: "reads of other schemas", run: async () => fromLines(await readFaults(root)) },
    { name: "unused code", run: () => tool("knip/bin/knip.js", "--no-progress") },
    { name: "code that only tests use", run: () => tool("knip/bin/knip.js", "--no-progress", "--production") },
    { name: "licenses of dependencies", run: async () => fromLines(judgeLicenses(await readPackages(root))) },
    { name: "advisories about dependencies", run: () => auditDependencies(root) },
    { name: "proto lint", run: () => buf(root, ["lint"]) },
    ...generatedOutputs(root).map(({ name, check }) => ({
      name: `generated: ${name}`,
      run: async () => fromLines(await check()),
    })),
  ];
}

async function importFaults(root: string): Promise<readonly string[]> {
  return judge(await readWorkspace(root)).map(inOneLine);
}

async function readFaults(root: string): Promise<readonly string[]> {
  return judgeReads(await readSchemaModules(root), await readServiceFiles(root)).map(inOneLine);
}

const inOneLine = ({ file, line, text }: Fault): string => `${file}:${line}  ${text}`;

function fromLines(faults: readonly string[]): CommandResult {
  return { exitCode: faults.length === 0 ? 0 : 1, output: faults.join("\n") };
}
