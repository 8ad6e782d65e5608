/**
 * A rule for oxlint: no request begins while a component is drawn, which may happen again at any time. Requests begin in effects, in handlers of
 * events and where the router loads a page.
 */

type Node = { readonly type: string; readonly parent: Node | null; readonly [field: string]: unknown };
type Named = { readonly name?: string } | null | undefined;

/** Functions and methods that begin a request. */
const requesting = new Set("fetch call send query queryAhead upload load reload refresh".split(" "));
/** Hooks that call their first argument while the component is drawn. */
const drawing = new Set("useMemo useState useReducer useComputed computed".split(" "));
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The rule. */
export const requestsInEffects = {
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
