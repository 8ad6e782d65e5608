/** A right that a page may require of the signed-in user. */
export type Right = "write" | "control" | "delete" | "import" | "usage" | "keys" | "people";

const WRITERS = ["owner", "admin", "member"];
const MANAGERS = ["owner", "admin"];

/** By right, the roles of people that have it, and the scopes of keys that each suffice. Matches the route records of the API. */
const RIGHTS: Readonly<Record<Right, { readonly roles: readonly string[]; readonly scopes: readonly string[] }>> = {
  write: { roles: WRITERS, scopes: ["sdk:ingest"] },
  control: { roles: WRITERS, scopes: ["runs:control"] },
  delete: { roles: WRITERS, scopes: ["runs:control"] },
  import: { roles: WRITERS, scopes: ["imports:write", "sdk:ingest"] },
  usage: { roles: MANAGERS, scopes: ["usage:read", "export:read"] },
  keys: { roles: MANAGERS, scopes: ["api_keys:write"] },
  people: { roles: MANAGERS, scopes: [] },
};

/** Whether a role, or for sessions made from a key its scopes, have a right. A wrong answer is not a security risk: the server decides. */
export function mayAs(
  right: Right,
  { role, scopes }: { readonly role: string | undefined; readonly scopes: readonly string[] },
): boolean {
  const needed = RIGHTS[right];
  return role === undefined ? needed.scopes.some((scope) => scopes.includes(scope)) : needed.roles.includes(role);
}
