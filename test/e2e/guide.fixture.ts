import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const wandb = join(root, "packages/import-formats/fixtures/wandb-0.31.0/data/wandb");
/** What stands for npm: the command line is that of this repository, and the server runs already. */
const npm = `case "$1 $2" in
  "start " | "test ") ;;
  "run tidemark") shift 3; exec node "${join(root, "cli/src/main.ts")}" "$@" ;;
  *) echo "npm $* is unknown here" >&2; exit 1 ;;
esac`;

/** Returns the recipes of a document: its fenced blocks in sh, python and ts, in order. */
function recipesOf(document: string): readonly (readonly [language: string, code: string])[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^```(sh|python|ts)\n(.*?)^```$/gms)].map(([, language, code]) => [language!, code!]);
}

/** Returns the block of the guide's first page that sets the names which the other pages use. */
export function setUpRecipe(): string {
  const [first] = recipesOf("docs/guide/first-run.md");
  if (first === undefined) throw new Error("the first page of the guide has no recipe");
  return first[1];
}

/** Where and as whom recipes run. */
export type Reader = {
  readonly baseUrl: string;
  readonly key: string;
  /** The interpreter for recipes in Python; without one these are left out. */
  readonly python: string | undefined;
};

/**
 * Runs all recipes of a document as one Bash script, in an empty folder with files of W&B, and returns what they print. `before` runs first.
 * `npm run tidemark` is the command line of this repository; `npm start` and `npm test` do nothing.
 * @throws Error with the commands and their output when one fails
 */
export async function runRecipes(document: string, { baseUrl, key, python }: Reader, before = ""): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-guide-"));
  try {
    const bin = join(folder, ".bin");
    mkdirSync(bin);
    cpSync(wandb, join(folder, "wandb"), { recursive: true });
    writeProgram(join(bin, "npm"), npm);
    if (python !== undefined) writeProgram(join(bin, "python3"), `exec "${python}" "$@"`);
    const parts = recipesOf(document).map(([language, code], index) => {
      if (language === "sh") return code;
      const file = join(folder, language === "ts" ? `${index}.mts` : `${index}.py`);
      writeFileSync(file, code.replaceAll("http://127.0.0.1:8080", baseUrl));
      if (language === "ts") return `node --no-warnings ${file}\n`;
      return python === undefined ? "" : `python3 ${file}\n`;
    });
    const script = [before, ...parts].join("").replaceAll("http://127.0.0.1:8080", baseUrl);
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const child = spawn("bash", ["-euxo", "pipefail", "-c", script], {
      cwd: folder,
      env: {
        PATH: [bin, dirname(process.execPath), PATH].join(delimiter),
        HOME: folder,
        NODE_COMPILE_CACHE,
        KEY: key,
      },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, to end what the recipes leave running.
      detached: true,
    });
    let printed = "";
    let log = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      log += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    const closed = once(child, "close");
    const [code] = (await once(child, "exit")) as [number | null];
    endGroup(child.pid!);
    await closed;
    if (code !== 0) throw new Error(`the recipes of ${document} ended with ${code}:\n${log}`);
    return printed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended completely.
  }
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}
