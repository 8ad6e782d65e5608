import {
  type CallExpression,
  isArrowFunction,
  isBlock,
  isCallExpression,
  isForOfStatement,
  isFunctionLikeDeclaration,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isParameterDeclaration,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  type ParameterDeclaration,
} from "typescript/unstable/ast";
import { type Project, type Symbol, SymbolFlags } from "typescript/unstable/sync";

const DECLARERS = new Set(["sql", "binarySql", "plannedSql"]);

/** The names that parameters have in the functions that are followed, by the id of the parameter. */
type Names = ReadonlyMap<number, string>;

/**
 * Returns the names of the statements that an expression may be, as their declarations have them; `*` stands for a part that only running code
 * knows. Follows constants, members of objects and lists, both ways of a condition, functions that return statements, and what callers give to
 * the function around it.
 */
export function traceStatements({ checker }: Project, expression: Node): readonly string[] {
  const found = new Set<string>();
  const followed = new Set<Node>();

  const mayBeStatement = (node: Node): boolean => {
    const type = checker.getTypeAtLocation(node);
    return type !== undefined && /\bStatement\b/.test(checker.typeToString(type));
  };

  const declarationOf = (symbol: Symbol | undefined): Node | undefined => {
    if (symbol === undefined) return undefined;
    const { valueDeclaration } = (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
    return valueDeclaration?.resolve();
  };

  const nameIn = (node: Node | undefined, names: Names): string => {
    if (node === undefined) return "*";
    if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
    if (isIdentifier(node)) return names.get(checker.getSymbolAtLocation(node)?.id ?? -1) ?? "*";
    if (!isTemplateExpression(node)) return "*";
    return (
      node.head.text + node.templateSpans.map((span) => nameIn(span.expression, names) + span.literal.text).join("")
    );
  };

  const followReturns = (body: Node, names: Names): void => {
    if (isArrowFunction(body) && !isBlock(body.body)) return follow(body.body, names);
    const search = (node: Node): void => {
      if (isReturnStatement(node) && node.expression !== undefined) follow(node.expression, names);
      else if (node === body || !isFunctionLikeDeclaration(node)) node.forEachChild(search);
    };
    search(body);
  };

  const followCall = (call: CallExpression, names: Names): void => {
    const callee = call.expression;
    if (isIdentifier(callee) && DECLARERS.has(callee.text)) return void found.add(nameIn(call.arguments[0], names));
    if (!mayBeStatement(call)) return;
    const declared = isIdentifier(callee) ? declarationOf(checker.getSymbolAtLocation(callee)) : undefined;
    const made = declared !== undefined && isVariableDeclaration(declared) ? declared.initializer : declared;
    if (made !== undefined && isFunctionLikeDeclaration(made)) {
      const given = made.parameters.map(({ name }, i): [number, string] => [
        checker.getSymbolAtLocation(name)?.id ?? -1,
        nameIn(call.arguments[i], names),
      ]);
      followReturns(made, new Map([...names, ...given]));
    } else follow(callee, names);
    for (const argument of call.arguments) if (mayBeStatement(argument)) follow(argument, names);
  };

  /** Follows what the callers of a function give for one of its parameters. */
  const followArguments = (parameter: ParameterDeclaration): void => {
    const called = parameter.parent;
    if (followed.has(parameter) || !isFunctionLikeDeclaration(called)) return;
    followed.add(parameter);
    const place = called.parameters.indexOf(parameter);
    for (const call of callsOf(called)) {
      const given = isCallExpression(call) ? call.arguments[place] : undefined;
      if (given !== undefined) follow(given, new Map());
    }
  };

  const callsOf = (called: Node): readonly Node[] => {
    const { parent } = called;
    if (!isVariableDeclaration(parent))
      return checker.getSignatureUsage(called).flatMap(({ call }) => call?.resolve() ?? []);
    const symbol = checker.getSymbolAtLocation(parent.name);
    const file = parent.getSourceFile().fileName;
    const references = symbol === undefined ? [] : checker.getReferencesToSymbolInFile(file, symbol);
    return references.flatMap((reference) => reference.resolve()?.parent ?? []);
  };

  const followIdentifier = (node: Node, names: Names, symbol = checker.getSymbolAtLocation(node)): void => {
    if (!mayBeStatement(node)) return;
    let declared = declarationOf(symbol);
    while (declared !== undefined && !isVariableDeclaration(declared)) {
      if (isParameterDeclaration(declared)) return followArguments(declared);
      if (isFunctionLikeDeclaration(declared)) return;
      // One name of several: of the pattern of an object or list.
      declared = declared.parent;
    }
    if (declared === undefined || followed.has(declared)) return;
    followed.add(declared);
    const loop = declared.parent.parent;
    const value = declared.initializer ?? (isForOfStatement(loop) ? loop.expression : undefined);
    if (value !== undefined) follow(value, names);
  };

  const follow = (node: Node, names: Names): void => {
    if (isCallExpression(node)) followCall(node, names);
    else if (isFunctionLikeDeclaration(node)) followReturns(node, names);
    else if (isShorthandPropertyAssignment(node))
      followIdentifier(node.name, names, checker.getShorthandAssignmentValueSymbol(node));
    else if (isIdentifier(node)) followIdentifier(node, names);
    else node.forEachChild((child) => follow(child, names));
  };

  follow(expression, new Map());
  return [...found];
}
