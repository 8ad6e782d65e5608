import { METRIC_FIGURES, type Column } from "@tidemark/values/run-search";
import { nearest } from "./nearest.ts";
import type { ProjectKey } from "./suggestions.ts";

/** The keys of a project, as far as they are known. */
export type KnownKeys = {
  readonly keys: readonly Pick<ProjectKey, "kind" | "name">[];
  /** Whether there are no others. */
  readonly isAll: boolean;
};

/** How columns of a query begin. */
export const KIND = /^(?:config|metrics|attributes)\./;

/** Returns the names that filters of a kind can have. What `log_config` of the SDK writes is read as config too. */
export function namesOf(kind: Column["kind"], { keys }: KnownKeys): readonly string[] {
  const of = (wanted: ProjectKey["kind"]): string[] => keys.flatMap((key) => (key.kind === wanted ? [key.name] : []));
  if (kind === "metrics") return of("metric");
  if (kind === "attributes") return of("attribute");
  const logged = of("attribute").flatMap((name) => (name.startsWith("config/") ? [name.slice("config/".length)] : []));
  return [...of("config"), ...logged, ...logged.map((name) => name.replaceAll("/", "."))];
}

/** Returns the column that was likely meant by a name, written with its kind or without: the same key, else the one that is spelled most like it. */
export function nearColumn(written: string, known: KnownKeys): string | undefined {
  const kinds = (["config", "metrics", "attributes"] as const).map((kind) => ({
    kind,
    paths: namesOf(kind, known).flatMap((name) =>
      kind === "metrics" ? [name, ...METRIC_FIGURES.map((figure) => `${name}.${figure}`)] : [name],
    ),
  }));
  const path = written.replace(KIND, "");
  const own = kinds.filter(({ kind }) => written.startsWith(`${kind}.`));
  const first = <T>(list: readonly T[], find: (one: T) => string | undefined): string | undefined => {
    for (const one of list) {
      const found = find(one);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const columnLike = ({ kind, paths }: (typeof kinds)[number]): string | undefined => {
    const near = nearest(path, paths);
    return near === undefined ? undefined : `${kind}.${near}`;
  };
  return (
    first(kinds, ({ kind, paths }) => (paths.includes(path) ? `${kind}.${path}` : undefined)) ??
    first([...own, ...kinds], columnLike) ??
    (own.length > 0
      ? undefined
      : nearest(
          written,
          kinds.flatMap(({ kind, paths }) => paths.map((one) => `${kind}.${one}`)),
        ))
  );
}
