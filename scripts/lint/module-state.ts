/**
 * A rule for oxlint: no function changes what its module keeps at the top level. Test files share modules, so such a change would reach other
 * tests; in a server it is a hidden cache or register. What a WeakMap or WeakSet keeps belongs to its keys and is allowed.
 */

type Node = { readonly type: string; readonly parent: Node; readonly [field: string]: unknown };
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

/** The rule. */
export const moduleState = {
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
  const member = identifier.parent;
  if (member.type !== "MemberExpression" || member["object"] !== identifier) return false;
  const outer = member.parent;
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
