import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Block, Report } from "./report-types.ts";

/** The new content of a report. */
export type Draft = { readonly title: string; readonly description: string; readonly blocks: readonly Block[] };

/** The state of saving. `conflict`: another user or page changed the report since it was read here. */
export type SaveState = "saved" | "waiting" | "saving" | "conflict" | { readonly error: unknown };

const PAUSE_MS = 1000;

/**
 * Saves a draft a moment after its last change. Before that it checks whether another user changed the report; if so, it saves nothing until a
 * person decides: `overwrite` keeps the draft.
 */
export function useAutosave(
  report: Report,
  draft: Draft,
): { readonly state: SaveState; readonly overwrite: () => void } {
  const [state, setState] = useState<SaveState>("saved");
  const known = useRef(report.updated_at);
  const stored = useRef(JSON.stringify(draft));
  const text = JSON.stringify(draft);
  const latest = useRef(text);
  latest.current = text;
  const saving = useRef<Promise<void>>(Promise.resolve());
  const path = `/api/reports/${report.id}`;

  const save = async (isForced: boolean): Promise<void> => {
    const own = latest.current;
    if (own === stored.current && !isForced) return setState("saved");
    setState("saving");
    try {
      if (!isForced) {
        const now = await call<{ report: Report }>(path);
        if (now.report.updated_at !== known.current) return setState("conflict");
      }
      const { title, description, blocks } = JSON.parse(own) as Draft;
      const body = { title: title.trim() === "" ? "Untitled report" : title, description, blocks };
      const saved = await call<{ report: Report }>(path, { method: "PATCH", body });
      known.current = saved.report.updated_at;
      stored.current = own;
      setState(latest.current === own ? "saved" : "waiting");
    } catch (error) {
      setState({ error });
    }
  };
  // One after the other: two at a time would take each other for another user.
  const queue = (isForced: boolean): Promise<void> => (saving.current = saving.current.then(() => save(isForced)));

  useEffect(() => {
    if (state === "conflict" || text === stored.current) return undefined;
    setState("waiting");
    const timer = setTimeout(() => void queue(false), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  // The last edits must not be lost by leaving.
  const isOpen = state !== "saved";
  useEffect(() => {
    if (!isOpen) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isOpen]);
  const stands = useRef(state);
  stands.current = state;
  useEffect(
    () => () => {
      if (stands.current === "waiting") void queue(false);
    },
    [],
  );
  return { state, overwrite: () => void queue(true) };
}
