import type { ArchiveLine } from "@tidemark/archive";

/** Bytes that an archive names. */
export type NamedContent = {
  readonly sha256: string;
  readonly size: number;
  /** From where they can be fetched: any of these. */
  readonly routes: readonly string[];
  /** Nothing but deleted versions has them, so the server may have let them go. */
  readonly isGone: boolean;
};

/** Gathers the bytes that the lines of an archive name, each once. */
export function createContentList(): {
  readonly add: (line: ArchiveLine) => void;
  readonly list: () => NamedContent[];
} {
  const found = new Map<string, { size: number; routes: string[]; isGone: boolean }>();
  const deleted = new Set<string>();
  const note = (sha256: string, size: number, route: string, isGone: boolean): void => {
    const known = found.get(sha256);
    if (known === undefined) found.set(sha256, { size, routes: [route], isGone });
    else {
      // A second way in is enough: one of a thousand may be gone, not all.
      if (known.routes.length < ROUTES_MAX || (known.isGone && !isGone)) known.routes.push(route);
      known.isGone &&= isGone;
    }
  };
  return {
    add(line) {
      if (line.line === "artifact" && line.uri === undefined && line.sha256 !== undefined) {
        note(line.sha256, line.size_bytes ?? 0, `/api/artifacts/${line.id}/download`, false);
      } else if (line.line === "version" && (line.state !== "active" || line.purged_at !== undefined))
        deleted.add(line.id);
      else if (line.line === "version.entries") {
        for (const { id, kind, sha256, size_bytes: size = 0 } of line.entries) {
          if (kind !== "file" || sha256 === undefined) continue;
          note(sha256, size, `/api/artifact-entries/${id}/download`, deleted.has(line.id));
        }
      }
    },
    list: () => Array.from(found, ([sha256, content]) => ({ sha256, ...content })),
  };
}

const ROUTES_MAX = 4;
