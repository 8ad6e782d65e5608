import { query } from "../../api/queries.ts";
import { useAnswer } from "../../api/use-answer.ts";

type Page = { readonly projects: readonly { readonly id: string; readonly name: string }[]; readonly total: number };

const ROWS = 100;

/** Finds the id of a project by its name; null if there is none that the signed-in user may see. */
export function useProjectId(name: string): { readonly id: string | null | undefined; readonly error: unknown } {
  const { data, error } = useAnswer(name, async (signal): Promise<string | null> => {
    for (let offset = 0; ; offset += ROWS) {
      const { projects, total } = await query<Page>(`/projects?limit=${ROWS}&offset=${offset}`, { signal });
      const project = projects.find((one) => one.name === name);
      if (project !== undefined) return project.id;
      if (projects.length === 0 || offset + ROWS >= total) return null;
    }
  });
  return { id: data, error };
}
