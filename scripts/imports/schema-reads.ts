import { markdownTable } from "../generate/markdown-table.ts";
import { isTestFile } from "./edges.ts";
import type { Fault } from "./rules.ts";
import { glob, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** The declarations of a module with a database. */
export type SchemaModule = {
  readonly name: string;
  /** The folder of its service: `services/ingest`. */
  readonly folder: string;
  readonly schema: string;
  /** The views and functions of other schemas that it declares. */
  readonly reads: readonly string[];
};

/** A file of a service: TypeScript, a migration or the generated schema.sql. The path is relative to the repository. */
export type ServiceFile = { readonly path: string; readonly text: string };

/** Returns every module with a database, as its definition says. Loads the whole product. */
export async function readSchemaModules(root: string): Promise<readonly SchemaModule[]> {
  const { allModules } = await import("@tidemark/all");
  return allModules.flatMap(({ name, schema, migrations, reads = [] }) => {
    if (schema === undefined || migrations === undefined) return [];
    const [folder = ""] = relative(root, migrations.directory).split(sep).join("/").split("/src/");
    return [{ name, folder, schema, reads }];
  });
}

/** Reads the TypeScript and SQL of all services, in the order of their paths. */
export async function readServiceFiles(root: string): Promise<readonly ServiceFile[]> {
  const found = await Array.fromAsync(glob("services/*/src/**/*.{ts,sql}", { cwd: root }));
  const paths = found.map((path) => path.split(sep).join("/")).toSorted();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })));
}

/** Returns the objects of all schemas by qualified name, each with its kind: `TABLE`, `VIEW`, `FUNCTION` and so on. */
export function schemaObjects(files: readonly ServiceFile[]): ReadonlyMap<string, string> {
  const created = files
    .filter(({ path }) => path.endsWith("/schema.sql"))
    .flatMap(({ text }) => [...text.matchAll(/^CREATE (?:UNLOGGED )?([A-Z]+) ([a-z_]+\.[a-z_0-9]+)/gm)]);
  return new Map(created.map(([, kind = "", name = ""]) => [name, kind]));
}

/**
 * Compares the reads that modules declare with the names in other services' schemas that their service's SQL uses: in TypeScript outside
 * tests, in migrations, and in views and functions as schema.sql has them. Two modules of one service share its SQL. A module
 * declares views or functions with a version in their name, because everything else may change without notice.
 */
export function judgeReads(modules: readonly SchemaModule[], files: readonly ServiceFile[]): readonly Fault[] {
  const objects = schemaObjects(files);
  return [...Map.groupBy(modules, ({ folder }) => folder)].flatMap(([folder, own]) => {
    const shipped = files.filter(({ path }) => path.startsWith(`${folder}/src/`) && !isTestFile(path));
    const foreign = modules.map(({ schema }) => schema).filter((schema) => own.every((one) => one.schema !== schema));
    const uses = foreign.length === 0 ? [] : shipped.flatMap((file) => usesIn(file, [...new Set(foreign)]));
    const declared = new Set(own.flatMap(({ reads }) => reads));
    return [
      ...uses.flatMap((use) => {
        const text = faultOfUse(use, objects, declared);
        return text === undefined ? [] : [{ file: use.file, line: use.line, text }];
      }),
      ...[...declared].flatMap((name) => {
        const text = faultOfDeclaration(name, foreign, objects, uses);
        return text === undefined ? [] : [{ ...whereDeclared(name, folder, shipped), text }];
      }),
    ];
  });
}

type Use = SqlName & { readonly file: string };

/** Returns the names in a file, each once, with the line where it first occurs. */
function usesIn({ path, text }: ServiceFile, schemas: readonly string[]): readonly Use[] {
  const names = path.endsWith(".sql") ? namesInSql(text, schemas) : namesInModule(path, text, schemas);
  const first = new Map(names.toReversed().map((found) => [found.name, found]));
  return [...first.values()].toReversed().map((found) => ({ ...found, file: path }));
}

/** A name that no schema has is an old one in a migration, or does not name an object at all. */
function faultOfUse(
  { name, whole }: Use,
  objects: ReadonlyMap<string, string>,
  declared: ReadonlySet<string>,
): string | undefined {
  if (!whole) return `puts a name together that begins with ${name}; write names of other schemas in full`;
  if (!objects.has(name) || declared.has(name)) return undefined;
  return `reads ${name}, which the module does not declare in \`reads\``;
}

function faultOfDeclaration(
  name: string,
  foreign: readonly string[],
  objects: ReadonlyMap<string, string>,
  uses: readonly Use[],
): string | undefined {
  if (!foreign.includes(name.split(".")[0] ?? "")) return `declares ${name}, which is not of another service's schema`;
  const kind = objects.get(name);
  if (kind === undefined) return `declares ${name}, which does not exist`;
  if (!/_v\d+$/.test(name) || !["VIEW", "FUNCTION"].includes(kind))
    return `declares ${name}, which is not a view or function with a version (_v1)`;
  return uses.some((use) => use.name === name) ? undefined : `declares ${name}, which its SQL does not name`;
}

function whereDeclared(name: string, folder: string, files: readonly ServiceFile[]): { file: string; line: number } {
  for (const { path, text } of files) {
    const line = path.endsWith("module.ts") ? text.split("\n").findIndex((one) => one.includes(`"${name}"`)) : -1;
    if (line >= 0) return { file: path, line: line + 1 };
  }
  return { file: `${folder}/src/module.ts`, line: 1 };
}

/** Returns which service reads what of which other one, as a table in Markdown: a row for each view or function, in the order of their names. */
export function drawReads(modules: readonly SchemaModule[], objects: ReadonlyMap<string, string>): string {
  const names = [...new Set(modules.flatMap(({ reads }) => reads))].toSorted();
  const rows = names.map((name) => [
    `\`${name}\`${objects.get(name) === "FUNCTION" ? " (function)" : ""}`,
    modules
      .filter(({ reads }) => reads.includes(name))
      .map((module) => `\`${module.name}\``)
      .join(", "),
  ]);
  return markdownTable(["view or function", "read by"], rows);
}

/** A schema-qualified name in SQL, such as `runs.run_refs_v1`. */
type SqlName = {
  readonly name: string;
  /** False where a template puts the rest of the name together: only its beginning is known. */
  readonly whole: boolean;
  /** 1-based. */
  readonly line: number;
};

/** Returns the names in a SQL file that belong to one of the schemas, in the order of the text. Comments are left out. */
export function namesInSql(text: string, schemas: readonly string[]): readonly SqlName[] {
  return namesIn(text, schemas).map(({ name, at }) => ({ name, whole: true, line: lineOf(text, at) }));
}

/**
 * Returns the names in the string and template literals of a TypeScript module, in the order of the text. Left out are the paths of
 * imports and the strings of a list that is called `reads`, which declares names and uses none.
 */
export function namesInModule(path: string, text: string, schemas: readonly string[]): readonly SqlName[] {
  if (!schemas.some((schema) => text.includes(`${schema}.`))) return [];
  const found: { raw: string; start: number; goesOn: boolean }[] = [];
  const declarations: { start: number; end: number }[] = [];
  const declare = (
    key: { type: string; name?: unknown },
    value: { type: string; start: number; end: number } | null,
  ) => {
    if (key.name === "reads" && value?.type === "ArrayExpression") declarations.push(value);
  };
  new Visitor({
    Property: ({ key, value }) => declare(key, value),
    VariableDeclarator: ({ id, init }) => declare(id, init),
    Literal: ({ value, start, end }) => {
      if (typeof value === "string") found.push({ raw: text.slice(start, end), start, goesOn: false });
    },
    TemplateElement: ({ value: { raw }, start, tail }) => {
      found.push({ raw, start: text.indexOf(raw, start), goesOn: !tail });
    },
  }).visit(parseSync(path, text).program);
  return found
    .filter(({ start }) => !declarations.some((list) => list.start <= start && start < list.end))
    .flatMap(({ raw, start, goesOn }) =>
      namesIn(goesOn ? raw : `${raw} `, schemas).map(({ name, at }) => ({
        name,
        whole: !goesOn || at + name.length < raw.length,
        at: start + at,
      })),
    )
    .toSorted((a, b) => a.at - b.at)
    .map(({ name, whole, at }) => ({ name, whole, line: lineOf(text, at) }));
}

/** Finds the names. A schema and a dot at the very end of the text are the beginning of a name. */
function namesIn(text: string, schemas: readonly string[]): readonly { name: string; at: number }[] {
  const code = text.replaceAll(/--[^\n]*/g, (comment) => " ".repeat(comment.length));
  const pattern = new RegExp(`(?<![\\w.$/-])(?:${schemas.join("|")})\\.(?:[a-z_][a-z_0-9]*|$)`, "g");
  return [...code.matchAll(pattern)].map(({ 0: name, index }) => ({ name, at: index }));
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}
