import { existsSync } from "node:fs";
import { join } from "node:path";
import { renderLicenses } from "../dependencies/licenses.rules.ts";
import { readPackages } from "../dependencies/pnpm.ts";
import { drawImports, placeDrawing } from "../imports/diagram.ts";
import { readSchemaModules, readServiceFiles, drawReads, schemaObjects } from "../imports/schema-reads.ts";
import { readWorkspace } from "../imports/workspace.ts";
import { runNode } from "../run-command.ts";
import { renderProto } from "./buf.ts";
import { migrationSets, renderSchemaFiles } from "./database/schema-files.ts";
import { generatedManifests } from "./manifests.ts";
import { markdownTable } from "./markdown-table.ts";
import { type Generated, generatedFile, generatedFiles, generatedFolder } from "./generated.ts";

/** Everything that is generated and committed. Add an entry here: `npm run generate` writes it, `npm test` checks it. */
export function generatedOutputs(root: string): readonly Generated[] {
  return [
    generatedFolder(root, "proto/src/gen", () => renderProto(root)),
    generatedFiles(root, "schema.sql", async () => renderSchemaFiles(root, await migrationSets())),
    generatedFile(root, "docs/config.md", () => renderConfigPage(root)),
    ...generatedManifests(root),
    generatedFile(root, "docs/licenses.md", async () => renderLicenses(await readPackages(root))),
    ...ifPresent(root, "docs/grpc.md", async (text) => placeDrawing(text, "reasons", await renderReasons())),
    ...ifPresent(root, "ARCHITECTURE.md", (text) => drawArchitecture(root, text)),
  ];
}

async function drawArchitecture(root: string, text: string): Promise<string> {
  const reads = drawReads(await readSchemaModules(root), schemaObjects(await readServiceFiles(root)));
  const withReads = placeDrawing(text, "schema-reads", reads);
  return placeDrawing(withReads, "import-graph", drawImports(await readWorkspace(root)));
}

const configIntroduction = `# Settings

Everything is set by environment variables, checked at the start; all faults are shown together, and a \`TIDEMARK_*\` name that nothing reads is one of them. Secrets are also read from the file that \`<NAME>_FILE\` names.
Generated from the modules' own descriptions.

`;

/** Returns the page of all settings, printed by the package that knows every module. */
async function renderConfigPage(root: string): Promise<string> {
  const { exitCode, output } = await runNode(join(root, "services/all/src/print-config-table.ts"), [], root);
  if (exitCode !== 0) throw new Error(output);
  return configIntroduction + output;
}

/** Returns the reasons of errors in the order of their registry. */
async function renderReasons(): Promise<string> {
  const { reasons } = await import("@tidemark/errors");
  const rows = Object.entries(reasons).map(([reason, { rpc }]) => [`\`${reason}\``, `\`${rpc.toUpperCase()}\``]);
  return markdownTable(["reason", "gRPC code"], rows);
}

/** A generated part of a file that a person writes; nothing where the file is missing. */
function ifPresent(root: string, file: string, render: (text: string) => Promise<string>): readonly Generated[] {
  return existsSync(join(root, file)) ? [generatedFile(root, file, (current = "") => render(current))] : [];
}
