import { useRead, type Read } from "../run/use-read.ts";

/** A project, as lists return it. */
export type ProjectRow = { readonly id: string; readonly name: string };

/** The projects that one may see. */
export function useProjects(isWanted = true): Read<{ readonly projects: readonly ProjectRow[] }> {
  return useRead<{ projects: ProjectRow[] }>(isWanted ? "/projects" : undefined);
}
