type Node = { readonly type: string; readonly parent: Node | null; readonly [field: string]: unknown };
type Reference = {
  readonly identifier: Node;
  readonly from: { readonly variableScope: Scope };
  isWrite(): boolean;
  readonly init?: boolean | null;
};
type Variable = {
  readonly name: string;
  readonly references: readonly Reference[];
  readonly defs: readonly { readonly node: Node }[];
};
type Scope = { readonly type: string; readonly variables: readonly Variable[] };
type Context = {
  readonly sourceCode: { readonly scopeManager: { readonly scopes: readonly Scope[] } };
  report(fault: { node: Node; message: string }): void;
};

const changing = new Set("set add delete clear push pop shift unshift splice sort reverse fill copyWithin".split(" "));

/**
 * A rule for oxlint: no function changes what its module keeps at the top level. Test files share modules, so such a change would reach other
 * tests; in a server it is a hidden cache or register. What a WeakMap or WeakSet keeps belongs to its keys and is allowed.
 */
const moduleState = {
  create(context: Context) {
    return {
      "Program:exit"(): void {
        for (const scope of context.sourceCode.scopeManager.scopes) {
          if (scope.type !== "module") continue;
          for (const variable of scope.variables) {
            const change = variable.references.find(
              (one) => one.from.variableScope !== scope && changes(one, variable),
            );
            if (change === undefined) continue;
            const message = `functions change ${variable.name}, which the module keeps: pass it as an argument`;
            context.report({ node: change.identifier, message });
          }
        }
      },
    };
  },
};

function changes(reference: Reference, { defs }: Variable): boolean {
  if (reference.isWrite()) return true;
  const { identifier } = reference;
  const member = identifier.parent!;
  if (member.type !== "MemberExpression" || member["object"] !== identifier) return false;
  const outer = member.parent!;
  if (outer.type === "AssignmentExpression") return outer["left"] === member;
  if (outer.type === "UpdateExpression") return true;
  if (outer.type === "UnaryExpression") return outer["operator"] === "delete";
  if (outer.type !== "CallExpression" || outer["callee"] !== member) return false;
  const { name } = member["property"] as { name?: string };
  return name !== undefined && changing.has(name) && defs.some(({ node }) => isCollection(node));
}

/** Whether a declaration makes something that its methods change: an array, or an object of a class. */
function isCollection(declaration: Node): boolean {
  const made = declaration["init"] as { type: string; callee?: { name?: string } } | null | undefined;
  if (made?.type === "ArrayExpression") return true;
  return made?.type === "NewExpression" && !/^Weak(?:Map|Set)$/.test(made.callee?.name ?? "");
}

type Named = { readonly name?: string } | null | undefined;

/** Functions and methods that begin a request. */
const requesting = new Set("fetch call send query queryAhead upload load reload refresh".split(" "));
/** Hooks that call their first argument while the component is drawn. */
const drawing = new Set("useMemo useState useReducer useComputed computed".split(" "));
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * A rule for oxlint: no request begins while a component is drawn, which may happen again at any time. Requests begin in effects, in handlers of
 * events and where the router loads a page.
 */
const requestsInEffects = {
  create: (context: { report(fault: { node: Node; message: string }): void }) => ({
    CallExpression(node: Node): void {
      const name = calledName(node);
      if (name === undefined || !requesting.has(name)) return;
      let around = node.parent;
      while (around !== null && !functions.has(around.type)) around = around.parent;
      if (around !== null && isDrawing(around))
        context.report({ node, message: `${name} begins a request while a component is drawn: use an effect` });
    },
  }),
};

/** The name of the function or method that is called. */
function calledName(node: Node): string | undefined {
  const callee = node["callee"] as Node;
  return ((callee.type === "MemberExpression" ? callee["property"] : callee) as Named)?.name;
}

/** Whether a function runs while a component is drawn: a component, a hook, or what a hook calls for its value. */
function isDrawing(node: Node): boolean {
  const { parent } = node;
  if (parent?.type === "CallExpression" && drawing.has(calledName(parent) ?? ""))
    return (parent["arguments"] as readonly Node[])[0] === node;
  const name = ((node["id"] ?? (parent?.type === "VariableDeclarator" ? parent["id"] : undefined)) as Named)?.name;
  return name !== undefined && /^(?:use)?[A-Z]/.test(name);
}

/** Our own rules for oxlint. */
export default {
  meta: { name: "tidemark" },
  rules: { "module-state": moduleState, "requests-in-effects": requestsInEffects },
};
