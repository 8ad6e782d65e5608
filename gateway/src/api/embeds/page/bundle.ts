import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

const folder = join(import.meta.dirname, "client");

/** The modules of the page, each after those that it imports. */
const MODULES = ["stroke", "ticks", "lines", "view", "outcome", "elements", "chart", "run-list", "main"] as const;

/** An import from another of these modules; in the combined module its names are there already. */
const IMPORT = /^import [^;]* from "\.\/[a-z-]+\.ts";$/gm;

/** The program of the page: one JavaScript module without imports. */
export const pageScript: string = silently(() => MODULES.map(readModule).join("\n"));

/** The style sheet of the page. */
export const pageStyle: string = readFileSync(join(folder, "style.css"), "utf8");

function readModule(name: string): string {
  const source = readFileSync(join(folder, `${name}.ts`), "utf8");
  const stripped = stripTypeScriptTypes(source, { mode: "strip" });
  return stripped
    .replaceAll(IMPORT, "")
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/\n{2,}/g, "\n");
}

/** Node warns that the function which strips types is a release candidate. Node runs this very file with the same code, which is stable. */
function silently<T>(work: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
