import { findExecutable, runCaptured } from "@tidemark/toolcache";

/** An interpreter that can make virtual environments. */
export type Interpreter = {
  readonly path: string;
  /** Version, kind of machine and C library: what an environment made with it depends on. */
  readonly identity: string;
};

const OLDEST = [3, 11] as const;
const names = ["python3.13", "python3.12", "python3.11", "python3"] as const;

// Debian splits ensurepip from the interpreter; without it an environment has no pip.
const probe = `
import ensurepip, json, sys, sysconfig, venv
print(json.dumps([sys.version_info[:3], sys.base_prefix, sysconfig.get_config_var("EXT_SUFFIX")]))
`;

/**
 * Looks for Python 3.11 or newer: TIDEMARK_PYTHON, else the first of python3.13, python3.12, python3.11 and python3 on PATH that will do.
 * Answers a part of a sentence that says what was tried where there is none. A variable that names something unusable is not passed over.
 */
export async function findPython(env: NodeJS.ProcessEnv): Promise<Interpreter | { missing: string }> {
  const named = env["TIDEMARK_PYTHON"];
  if (named) {
    const found = await examine(named);
    return typeof found === "string" ? { missing: `TIDEMARK_PYTHON names ${named}, but ${found}` } : found;
  }
  const tried: string[] = [];
  for (const name of names) {
    const path = findExecutable(name, env["PATH"]);
    const found = path === undefined ? "not on PATH" : await examine(path);
    if (typeof found !== "string") return found;
    tried.push(`${name}: ${found}`);
  }
  return { missing: `no usable Python 3.11 or newer (${tried.join("; ")})` };
}

/** The interpreter behind an executable, or why it will not do. */
async function examine(path: string): Promise<Interpreter | string> {
  const { code, stdout, output } = await runCaptured(path, ["-I", "-c", probe]);
  if (code !== 0) return `it cannot be used (${output.trim().split("\n").at(-1) || `exit code ${code}`})`;
  const [[major, minor]] = JSON.parse(stdout) as [[number, number, number], string, string];
  if (major !== OLDEST[0] || minor < OLDEST[1]) return `it is Python ${major}.${minor}`;
  return { path, identity: stdout.trim() };
}
