import { glob, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { API, type Project } from "typescript/unstable/sync";

/** The sources that run statements, as the compiler knows them. */
export type Sources = {
  readonly project: Project;
  /** The files that may run statements, relative to the repository, in order. */
  readonly files: readonly string[];
  readonly texts: readonly string[];
  readonly close: () => void;
};

const PRODUCT = "{services/*,infra/*,gateway}/src/**/*.ts";
const OF_TESTS = /\.(?:test|fixture|contract)\.ts$|^infra\/testkit\//;
const RUNS_STATEMENTS = /\.(?:rows|one|each)\b/;

/** Opens the product's files that may run statements, with what they import: a quarter of the repository, read in about a second. */
export async function openSources(root: string): Promise<Sources> {
  const found = await Array.fromAsync(glob(PRODUCT, { cwd: root }));
  const paths = found.map((path) => path.split(sep).join("/")).filter((path) => !OF_TESTS.test(path));
  const read = await Promise.all(
    paths.toSorted().map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })),
  );
  const running = read.filter(({ text }) => RUNS_STATEMENTS.test(text));
  const files = running.map(({ path }) => path);
  const { compilerOptions } = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
  };
  // Exists only for the compiler: a project needs a file.
  const config = join(root, "tsconfig.statements.json");
  const text = JSON.stringify({ compilerOptions, files });
  const api = new API({
    cwd: root,
    fs: {
      readFile: (path) => (path === config ? text : undefined),
      fileExists: (path) => (path === config ? true : undefined),
    },
  });
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error("the compiler did not open the project");
  return { project, files, texts: running.map(({ text }) => text), close: () => api.close() };
}
