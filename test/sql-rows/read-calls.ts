import { join, sep } from "node:path";
import {
  type CallExpression,
  isCallExpression,
  isPropertyAccessExpression,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { type Checker, SignatureKind, type Type, TypeFlags, API, type Project } from "typescript/unstable/sync";
import type { RowMember } from "./describe-statements.ts";
import { traceStatements } from "./trace-statements.ts";
import { glob, readFile } from "node:fs/promises";

/** A call that runs a statement and knows the type of its rows. */
export type RowCall = {
  /** Its file, relative to the repository, and the statement as the call names it. */
  readonly place: string;
  /** See `traceStatements`. */
  readonly statements: readonly string[];
  readonly members: readonly RowMember[];
};

const METHODS = new Set(["rows", "one", "each"]);

/** Returns the calls of `rows`, `one` and `each` of a `Tx` whose rows have a type, named or inferred. */
export function readCalls(root: string, { project, files }: Sources): readonly RowCall[] {
  return files.flatMap((file) => {
    const source = project.program.getSourceFile(join(root, file));
    if (source === undefined) throw new Error(`the compiler does not know ${file}`);
    return callsIn(source).flatMap((call) => {
      const [statement] = call.arguments;
      const row = rowOf(project.checker, call);
      if (row === undefined || statement === undefined) return [];
      const text = source.text.slice(statement.pos, statement.end).trim();
      return {
        place: `${file} ${text}`,
        statements: traceStatements(project, statement),
        members: membersOf(project.checker, row),
      };
    });
  });
}

function callsIn(source: SourceFile): readonly CallExpression[] {
  const calls: CallExpression[] = [];
  const search = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      if (METHODS.has(node.expression.name.text)) calls.push(node);
    }
    node.forEachChild(search);
  };
  search(source);
  return calls;
}

/** Returns the type of the rows of a call; undefined when it has none, or the method is not one of `Tx`. */
function rowOf(checker: Checker, call: CallExpression): Type | undefined {
  const signature = checker.getResolvedSignature(call);
  if (signature?.declaration?.path.endsWith("/infra/pg/src/db.ts") !== true) return undefined;
  const take = signature.getParameters()[2];
  const row = take === undefined ? rowOfResult(checker, call) : rowOfCallback(checker, checker.getTypeOfSymbol(take));
  return row === undefined || (row.flags & (TypeFlags.AnyOrUnknown | TypeFlags.TypeParameter)) !== 0 ? undefined : row;
}

/** Of `Promise<Row[]>` or `Promise<Row | undefined>`. */
function rowOfResult(checker: Checker, call: CallExpression): Type | undefined {
  const promise = checker.getTypeAtLocation(call);
  const [result] = promise?.isTypeReference() === true ? checker.getTypeArguments(promise) : [];
  if (result === undefined) return undefined;
  if (checker.isArrayType(result) && result.isTypeReference()) return checker.getTypeArguments(result)[0];
  return checker.getNonNullableType(result);
}

/** Of `(row: Row) => void`. */
function rowOfCallback(checker: Checker, take: Type | undefined): Type | undefined {
  const [signature] = take === undefined ? [] : checker.getSignaturesOfType(take, SignatureKind.Call);
  return signature && checker.getParameterType(signature, 0);
}

/** Returns the members of the type of rows. Those of a union are the members of all of its types: a row has the columns of all. */
function membersOf(checker: Checker, row: Type): readonly RowMember[] {
  const members = partsOf(row).flatMap((part) =>
    checker.getPropertiesOfType(part).map((property) => {
      const type = checker.getTypeOfSymbol(property);
      return { name: property.name, types: type === undefined ? [] : partsOf(type) };
    }),
  );
  return [...Map.groupBy(members, ({ name }) => name)].map(([name, same]) => {
    const types = same.flatMap((member) => member.types);
    const has = (flag: TypeFlags): boolean => types.some(({ flags }) => (flags & flag) !== 0);
    return {
      name,
      kinds: kindsOf(checker, types),
      isOptional: has(TypeFlags.Undefined),
      isNullable: has(TypeFlags.Null),
    };
  });
}

function partsOf(type: Type): readonly Type[] {
  return type.isUnionType() ? (type.getTypes() ?? []) : [type];
}

function kindsOf(checker: Checker, types: readonly Type[]): readonly string[] {
  const present = types.filter(({ flags }) => (flags & TypeFlags.Nullable) === 0);
  return [...new Set(present.map((type) => kindOf(checker, type)))].toSorted();
}

function kindOf(checker: Checker, type: Type): string {
  if ((type.flags & TypeFlags.StringLike) !== 0) return "string";
  if ((type.flags & TypeFlags.NumberLike) !== 0) return "number";
  if ((type.flags & TypeFlags.BooleanLike) !== 0) return "boolean";
  // Any list of PostgreSQL may have elements that are NULL; types say so where it matters.
  if (checker.isArrayType(type) && type.isTypeReference()) {
    return `${kindsOf(checker, checker.getTypeArguments(type).flatMap(partsOf)).join(" | ")}[]`;
  }
  const name = checker.typeToString(type);
  return /^(?:Buffer|Uint8Array)\b/.test(name) ? "bytes" : name;
}

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
