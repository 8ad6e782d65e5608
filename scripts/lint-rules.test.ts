import { copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runNode } from "./run-command.ts";

const root = dirname(import.meta.dirname);

/** A file that breaks one rule of .oxlintrc.json, and the rule; without a rule, one that breaks none. */
const cases: readonly (readonly [sentence: string, path: string, text: string, rule?: string])[] = [
  [
    "a floating promise",
    "infra/a/src/floats.ts",
    `const go = async () => 1; export const f = () => { go(); };`,
    "typescript(no-floating-promises)",
  ],
  ["any in an export", "infra/a/src/any.ts", `export const f = (a: any): unknown => a;`, "typescript(no-explicit-any)"],
  [
    "a value of type any passed on",
    "infra/a/src/unsafe.ts",
    `export const f = (): string => JSON.parse("1");`,
    "typescript(no-unsafe-return)",
  ],
  ["a default export", "infra/a/src/default.ts", `export default 1;`, "import(no-default-export)"],
  [
    "files that import each other",
    "infra/a/src/one.ts",
    `import { b } from "./two.ts"; export const a = () => b;`,
    "import(no-cycle)",
  ],
  [
    "the other of them",
    "infra/a/src/two.ts",
    `import { a } from "./one.ts"; export const b = () => a;`,
    "import(no-cycle)",
  ],
  [
    "a setting read in a service",
    "services/a/src/env.ts",
    `export const a = process.env["A"];`,
    "node(no-process-env)",
  ],
  [
    "a setting read by a detour",
    "services/a/src/env-import.ts",
    `import { env } from "node:process"; export const a = env["A"];`,
    "eslint(no-restricted-imports)",
  ],
  ["a setting read in infra", "infra/pg/src/env.ts", `export const a = process.env["A"];`, "node(no-process-env)"],
  ["a setting read by the host", "infra/host/src/env.ts", `export const a = process.env["A"];`],
  ["a setting read by a test", "test/e2e/a.test.ts", `export const a = process.env["A"];`],
  [
    "the clock in rules",
    "services/a/src/runs/clock.rules.ts",
    `export const a = () => Date.now();`,
    "eslint(no-restricted-properties)",
  ],
  [
    "a timer in a package",
    "packages/a/src/timer.ts",
    `export const a = () => setTimeout(() => 1, 1);`,
    "eslint(no-restricted-globals)",
  ],
  ["the clock in a handler", "services/a/src/handlers/clock.ts", `export const a = () => Date.now();`],
  [
    "an HTTP status in a handler",
    "services/a/src/handlers/status.ts",
    `export const a = (b: { statusCode: number }) => b.statusCode;`,
    "eslint(no-restricted-properties)",
  ],
  [
    "an HTTP status in rules",
    "services/a/src/runs/status.rules.ts",
    `export const a = (b: { statusCode: number }) => b.statusCode;`,
    "eslint(no-restricted-properties)",
  ],
  [
    "an HTTP status in the gateway",
    "gateway/src/status.ts",
    `export const a = (b: { statusCode: number }) => b.statusCode;`,
  ],
  [
    "printing from a service",
    "services/a/src/print.ts",
    `export const a = () => console.log(1);`,
    "eslint(no-console)",
  ],
  ["printing from a script", "scripts/print.ts", `console.log(1);`],
  [
    "a type imported as a value",
    "infra/a/src/type.ts",
    `import { Stats } from "node:fs"; export type A = Stats;`,
    "typescript(consistent-type-imports)",
  ],
  [
    "a module of Node without its prefix",
    "infra/a/src/prefix.ts",
    `import { join } from "path"; export const a = join("b");`,
    "unicorn(prefer-node-protocol)",
  ],
  [
    "a mocked module",
    "infra/a/src/mock.test.ts",
    `import { expect, jest, test } from "@jest/globals"; jest.mock("pg"); test("a", () => { expect(1).toBe(1); });`,
    "jest(no-restricted-jest-methods)",
  ],
  [
    "a test that runs alone",
    "infra/a/src/only.test.ts",
    `import { expect, test } from "@jest/globals"; test.only("a", () => { expect(1).toBe(1); });`,
    "jest(no-focused-tests)",
  ],
  [
    "a test that cannot fail",
    "infra/a/src/empty.test.ts",
    `import { test } from "@jest/globals"; test("a", () => {});`,
    "jest(expect-expect)",
  ],
  [
    "a variable of a module that a function assigns",
    "infra/a/src/count.ts",
    `let count = 0; export const next = () => (count += 1);`,
    "tidemark(module-state)",
  ],
  [
    "a map of a module that a function fills",
    "services/a/src/cache.ts",
    `const cache = new Map<string, string>(); export const keep = (a: string) => cache.set(a, a);`,
    "tidemark(module-state)",
  ],
  [
    "an object of a module that a function writes to",
    "packages/a/src/object.ts",
    `const state = { a: 1 }; export const raise = () => { state.a += 1; };`,
    "tidemark(module-state)",
  ],
  [
    "what is kept for as long as its key",
    "infra/a/src/weak.ts",
    `const kept = new WeakMap<object, number>(); export const keep = (key: object) => kept.set(key, 1);`,
  ],
  [
    "a list of a module that functions only read",
    "infra/a/src/list.ts",
    `const list = ["a", "b"]; export const last = () => list.at(-1);`,
  ],
  [
    "a variable of a test file",
    "infra/a/src/variable.test.ts",
    `import { beforeEach, expect, test } from "@jest/globals"; let a = 0; beforeEach(() => { a += 1; }); test("a", () => { expect(a).toBe(1); });`,
  ],
  [
    "a request while a component is drawn",
    "web/src/pages/card.ts",
    `declare const query: (path: string) => Promise<unknown>; export function Card() { void query("/a"); return null; }`,
    "tidemark(requests-in-effects)",
  ],
  [
    "a request for the value of a hook",
    "web/src/pages/use-rows.ts",
    `declare const useMemo: (make: () => number) => number; declare const pages: { load: () => number }; export const useRows = () => useMemo(() => pages.load());`,
    "tidemark(requests-in-effects)",
  ],
  [
    "requests in effects and in handlers",
    "web/src/pages/use-row.ts",
    `declare const useEffect: (act: () => void) => void; declare const call: (path: string) => number; export function useRow() { useEffect(() => void call("/a")); return () => call("/b"); }`,
  ],
  ["a thrown text", "infra/a/src/throw.ts", `export const a = () => { throw "b"; };`, "typescript(only-throw-error)"],
  [
    "a case that is forgotten",
    "infra/a/src/switch.ts",
    `export const f = (a: "x" | "y") => { switch (a) { case "x": return 1; } return 2; };`,
    "typescript(switch-exhaustiveness-check)",
  ],
];

let folder = "";
let found: ReadonlyMap<string, readonly string[]> = new Map();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-lint-"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const file of [".oxlintrc.json", "tsconfig.json"]) await copyFile(join(root, file), join(folder, file));
  await cp(join(root, "scripts/lint"), join(folder, "scripts/lint"), { recursive: true });
  for (const [, path, text] of cases) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const { output } = await runNode(join(root, "node_modules/oxlint/bin/oxlint"), ["--format", "json"], folder);
  const { diagnostics } = JSON.parse(output) as { diagnostics: readonly { filename: string; code: string }[] };
  found = new Map(
    [...Map.groupBy(diagnostics, ({ filename }) => filename)].map(([path, all]) => [path, all.map(({ code }) => code)]),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(cases.filter(([, , , rule]) => rule !== undefined))("the lint finds %s", (_sentence, path, _text, rule) => {
  expect(found.get(path)).toEqual([rule]);
});

test.each(cases.filter(([, , , rule]) => rule === undefined))("the lint allows %s", (_sentence, path) => {
  expect(found.get(path)).toBeUndefined();
});
