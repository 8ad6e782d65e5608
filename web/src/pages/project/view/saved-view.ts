/** The content of a saved view of a project: the choices of its address. Queries are a list of pairs, because payloads refuse some names. */
export type ViewPayload = {
  readonly kind: "tidemark.project";
  readonly choices: readonly (readonly [string, string])[];
};

/** Names of an address that belong to a moment and not to a view. */
const OF_A_MOMENT = new Set(["view", "sel", "tab"]);

/** Returns what to save of an address. */
export function payloadOfView(query: URLSearchParams): ViewPayload {
  return { kind: "tidemark.project", choices: [...query].filter(([name]) => !OF_A_MOMENT.has(name)) };
}

/** Returns the query of the address of a saved view; undefined for a payload of another kind, such as an imported one. */
export function addressOfView(payload: unknown, id: string): string | undefined {
  const { kind, choices } = (payload ?? {}) as { readonly kind?: unknown; readonly choices?: unknown };
  if (kind !== "tidemark.project" || !Array.isArray(choices)) return undefined;
  const query = new URLSearchParams();
  for (const choice of choices as readonly unknown[]) {
    if (!Array.isArray(choice)) continue;
    const [name, value] = choice as readonly unknown[];
    if (typeof name === "string" && typeof value === "string" && !OF_A_MOMENT.has(name)) query.set(name, value);
  }
  query.set("view", id);
  return query.toString();
}
