import { join } from "node:path";
import {
  type CallExpression,
  isCallExpression,
  isPropertyAccessExpression,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { type Checker, SignatureKind, type Type, TypeFlags } from "typescript/unstable/sync";
import type { RowMember } from "./judge-rows.ts";
import type { Sources } from "./open-sources.ts";
import { membersOf } from "./row-members.ts";
import { traceStatements } from "./trace-statements.ts";

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
