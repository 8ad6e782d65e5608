import type { Answered } from "../../api/use-answer.ts";
import { useQuery } from "../../api/use-query.ts";

/** A project, as lists return it. */
export type ProjectRow = { readonly id: string; readonly name: string };

/** The projects that one may see. */
export function useProjects(isWanted = true): Answered<{ readonly projects: readonly ProjectRow[] }> {
  return useQuery<{ projects: ProjectRow[] }>(isWanted ? "/projects" : undefined);
}
