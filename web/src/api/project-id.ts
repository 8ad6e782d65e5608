import { query } from "./queries.ts";

/** Milliseconds for which an id is not requested again. */
const YOUNG_MS = 10_000;

const known = new Map<string, { readonly id: string; readonly at: number }>();

/** Returns the id of a project by its name, as far as it was found before; another project may have the name by now. */
export const knownProjectId = (name: string): string | undefined => known.get(name)?.id;

/** Finds the id of a project by its name; null if there is none that the signed-in user may see. @throws ApiError, `AbortError` */
export async function findProjectId(
  name: string,
  options: { readonly signal?: AbortSignal; readonly again?: boolean } = {},
): Promise<string | null> {
  const before = known.get(name);
  if (before !== undefined && options.again !== true && performance.now() - before.at < YOUNG_MS) return before.id;
  const path = `/projects?limit=1&name=${encodeURIComponent(name)}`;
  const { projects } = await query<{ projects: readonly { id: string; name: string }[] }>(path, options);
  // An empty name in the address would ask for all projects.
  const found = projects.find((project) => project.name === name);
  if (found === undefined) known.delete(name);
  else known.set(name, { id: found.id, at: performance.now() });
  return found?.id ?? null;
}

/** Forgets all ids: another session may see other projects. */
export function forgetProjectIds(): void {
  known.clear();
}
