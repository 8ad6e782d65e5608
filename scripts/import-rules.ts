import { dirname } from "node:path";
import { judge } from "./imports/rules.ts";
import { readWorkspace } from "./imports/workspace.ts";

// Says which imports of this repository break a rule; exit code 1 if there are any.
const workspace = await readWorkspace(dirname(import.meta.dirname));
const faults = judge(workspace);
for (const { file, line, text } of faults) console.log(`${file}:${line}  ${text}`);
console.log(`${workspace.files.length} files, ${faults.length} faults`);
if (faults.length > 0) process.exitCode = 1;
