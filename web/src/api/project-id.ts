import { query } from "./queries.ts";

/** Milliseconds for which an id is not requested again. */
const YOUNG_MS = 10_000;

/** A project, as lists return it. */
export type ListedProject = { readonly id: string; readonly name: string };

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
  const { projects } = await query<{ projects: readonly ListedProject[] }>(path, options);
  // An empty name in the address would ask for all projects.
  const found = projects.find((project) => project.name === name);
  if (found === undefined) known.delete(name);
  else known.set(name, { id: found.id, at: performance.now() });
  return found?.id ?? null;
}

/** Projects of a page of the list. */
const PAGE = 1000;

/** Finds a project by its id, on as many pages of the list as it takes; null if there is none that the signed-in user may see. @throws ApiError, `AbortError` */
export async function findProject(
  id: string,
  options: { readonly signal?: AbortSignal; readonly again?: boolean } = {},
): Promise<ListedProject | null> {
  for (let offset = 0; ; offset += PAGE) {
    // The first page as others read it, so that they share the answer.
    const path = `/projects?limit=${PAGE}${offset === 0 ? "" : `&offset=${offset}`}`;
    const { projects } = await query<{ projects: readonly ListedProject[] }>(path, options);
    const found = projects.find((project) => project.id === id);
    if (found !== undefined || projects.length < PAGE) return found ?? null;
  }
}

/** Forgets all ids: another session may see other projects. */
export function forgetProjectIds(): void {
  known.clear();
}
