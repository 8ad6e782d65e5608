import { useEffect, useState } from "preact/hooks";
import { query } from "../../api/queries.ts";

type Page = { readonly projects: readonly { readonly id: string; readonly name: string }[]; readonly total: number };

const ROWS = 100;

/** Finds the id of a project by its name; null if there is none that the signed-in user may see. */
export function useProjectId(name: string): { readonly id: string | null | undefined; readonly error: unknown } {
  const [found, setFound] = useState<{ id?: string | null; error?: unknown }>({});
  useEffect(() => {
    const ending = new AbortController();
    const look = async (): Promise<string | null> => {
      for (let offset = 0; ; offset += ROWS) {
        const { projects, total } = await query<Page>(`/projects?limit=${ROWS}&offset=${offset}`, {
          signal: ending.signal,
        });
        const project = projects.find((one) => one.name === name);
        if (project !== undefined) return project.id;
        if (projects.length === 0 || offset + ROWS >= total) return null;
      }
    };
    look().then(
      (id) => setFound({ id }),
      (error: unknown) => !ending.signal.aborted && setFound({ error }),
    );
    return () => ending.abort();
  }, [name]);
  return { id: found.id, error: found.error };
}
