import { dirname } from "node:path";
import { readSchemaModules, readServiceFiles, judgeReads } from "./imports/schema-reads.ts";
import { judge } from "./imports/rules.ts";
import { readWorkspace } from "./imports/workspace.ts";

// Says which imports and which reads of other schemas break a rule; exit code 1 if there are any.
const root = dirname(import.meta.dirname);
const workspace = await readWorkspace(root);
const faults = [...judge(workspace), ...judgeReads(await readSchemaModules(root), await readServiceFiles(root))];
for (const { file, line, text } of faults) console.log(`${file}:${line}  ${text}`);
console.log(`${workspace.files.length} files, ${faults.length} faults`);
if (faults.length > 0) process.exitCode = 1;
