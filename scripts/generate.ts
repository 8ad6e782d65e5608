import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { generatedOutputs } from "./generate/outputs.ts";

// Writes everything that is generated and committed; with --check it writes nothing and fails if something is out of date.
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
for (const output of generatedOutputs(dirname(import.meta.dirname))) {
  const lines = await (values.check ? output.check() : output.write());
  for (const line of lines.length === 0 ? [`up to date: ${output.name}`] : lines) console.log(line);
  if (values.check && lines.length > 0) process.exitCode = 1;
}
