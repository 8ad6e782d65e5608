import { useEffect, useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import { Button } from "../../../ui/button.tsx";
import type { KnownKeys } from "./near-column.ts";
import type { QueryNote } from "./query-notes.ts";
import type { ProjectKey } from "./suggestions.ts";

/** Keys that are read; a key of a project with more is not looked for. */
const KEYS_MAX = 1000;

const NO_KEYS: KnownKeys = { keys: [], isAll: false };

/** Says what parts of a search were taken for, where that is easily missed, and offers what was likely meant. */
export function QueryHints({
  q,
  projectId,
  onTake,
}: {
  readonly q: string;
  readonly projectId: string | undefined;
  readonly onTake: (query: string) => void;
}) {
  const needsKeys = projectId !== undefined && /[<>=:]/.test(q);
  // Without the keys, what is wrong with the words is still said.
  const { data } = useQuery<{ readonly keys: readonly ProjectKey[]; readonly next_cursor: string | null }>(
    needsKeys ? `/api/projects/${projectId}/keys?limit=${KEYS_MAX}` : undefined,
  );
  const [notes, setNotes] = useState<readonly QueryNote[]>([]);
  useEffect(() => {
    let isOld = false;
    const read = async (): Promise<void> => {
      // The rules are loaded with the first search.
      const { queryNotes } = await import("./query-notes.ts");
      const known = data === undefined ? NO_KEYS : { keys: data.keys, isAll: data.next_cursor === null };
      if (!isOld) setNotes(queryNotes(q, known));
    };
    if (q.trim() === "") setNotes([]);
    else void read();
    return () => {
      isOld = true;
    };
  }, [q, data]);
  return (
    <>
      {notes.map(({ text, offer }) => (
        <p key={text}>
          {text}
          {offer !== undefined && (
            <>
              {" "}
              <Button size="s" kind="quiet" onClick={() => onTake(offer)}>
                Search for <code>{offer}</code>
              </Button>
            </>
          )}
        </p>
      ))}
    </>
  );
}
