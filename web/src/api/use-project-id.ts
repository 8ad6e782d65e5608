import { findProjectId, knownProjectId } from "./project-id.ts";
import { useAnswer } from "./use-answer.ts";

/** Finds the id of a project by its name: undefined until it is known, null if there is no such project. */
export function useProjectId(project: string): {
  readonly projectId: string | null | undefined;
  readonly error: unknown;
  readonly reload: () => void;
} {
  const { data, error, reload } = useAnswer(project, (signal, again) => findProjectId(project, { signal, again }));
  return { projectId: data === undefined ? knownProjectId(project) : data, error, reload };
}
