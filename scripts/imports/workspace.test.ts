import { expect, test } from "@jest/globals";
import { readImports } from "./workspace.ts";

test.each([
  ["a declaration", `import { a } from "x";`, "x", false],
  ["a side effect", `import "x";`, "x", false],
  ["a type declaration", `import type { A } from "x";`, "x", true],
  ["a declaration of types alone, which still loads", `import { type A } from "x";`, "x", false],
  ["a re-export", `export { a } from "x";`, "x", false],
  ["a re-export of all", `export * from "x";`, "x", false],
  ["a re-export of types", `export type { A } from "x";`, "x", true],
  ["an import while running", `const a = await import("x");`, "x", false],
  ["a type of a module", `let a: import("x").A;`, "x", true],
])("%s is an import", (_name, text, specifier, typeOnly) => {
  expect(readImports("a.ts", text)).toEqual([{ specifier, typeOnly, line: 1 }]);
});

test.each([
  ["a comment", `// import "x"`],
  ["a text", 'const a = `import "x"`'],
  ["an export of a value", `export const a = 1;`],
  ["an import of a computed name", `await import(name)`],
])("%s is not an import", (_name, text) => {
  expect(readImports("a.ts", text)).toEqual([]);
});

test("imports are returned in the order of the text with their lines", () => {
  const text = `import "a";\nawait import("b");\n\nexport * from "c";`;
  expect(readImports("a.ts", text).map(({ specifier, line }) => [specifier, line])).toEqual([
    ["a", 1],
    ["b", 2],
    ["c", 4],
  ]);
});

test("a text that does not parse is named", () => {
  expect(() => readImports("broken.ts", "import {")).toThrow(/broken\.ts/);
});
