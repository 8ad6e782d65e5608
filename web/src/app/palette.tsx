import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useQuery } from "../api/use-answer.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { matchRoute } from "./addresses.ts";
import { pageActions } from "./keys.ts";
import { currentLocation, navigate } from "./location.tsx";
import {
  actionEntries,
  pageEntries,
  projectPageEntries,
  projectEntries,
  rankEntries,
  runEntries,
  type FoundRun,
  type PaletteEntry,
} from "./palette-entries.ts";
import { chooseTheme } from "./theme.ts";

/** Milliseconds after the last letter before runs are searched. */
const PAUSE_MS = 150;

/** The palette of commands: projects, runs by name, pages and actions, by typing a part of their name. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const page = useMemo(() => [...pageEntries(pageActions()), ...ownPageEntries()], []);
  const projects = useProjects();
  const runs = useRuns(text.trim());
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const entries = useMemo(
    () => [...rankEntries([...page, ...projects, ...actionEntries(chooseTheme)], text), ...runs],
    [page, projects, runs, text],
  );
  const current = Math.min(at, entries.length - 1);
  const open = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (entry.address === undefined) entry.run?.();
    else navigate(entry.address);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || entries.length === 0) return;
    event.preventDefault();
    setAt((current + by + entries.length) % entries.length);
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current, entries]);
  return (
    <Dialog title="Go to" onClose={onClose} onSubmit={() => open(entries[current])}>
      <input
        class="tm-input"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        autofocus
        placeholder="Search projects, runs, settings and actions"
        aria-label="Search projects, runs, settings and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries.length === 0 ? undefined : `${listId}-${current}`}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={listId} class="tm-palette-list" role="listbox" aria-label="Results">
        {entries.map((entry, i) => (
          <div
            key={entry.id}
            id={`${listId}-${i}`}
            role="option"
            aria-selected={i === current}
            class="tm-palette-entry"
            onPointerMove={() => setAt(i)}
            onClick={() => open(entry)}
          >
            <Icon name={entry.icon} />
            <span class="tm-palette-text">{entry.label}</span>
            <span class="tm-muted">{entry.kind}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p role="status">Nothing found.</p>}
    </Dialog>
  );
}

/** The pages of the project whose page is shown. */
function ownPageEntries(): readonly PaletteEntry[] {
  const route = matchRoute(currentLocation.peek().path);
  return "project" in route ? projectPageEntries(route.project) : [];
}

function useProjects(): readonly PaletteEntry[] {
  // Without them the actions are left.
  const { data } = useQuery<{ readonly projects: readonly { readonly id: string; readonly name: string }[] }>(
    "/projects?limit=1000",
  );
  return useMemo(() => projectEntries(data?.projects ?? []), [data]);
}

function useRuns(text: string): readonly PaletteEntry[] {
  const [entries, setEntries] = useState<readonly PaletteEntry[]>([]);
  useEffect(() => {
    if (text.length < 2) {
      setEntries([]);
      return undefined;
    }
    const left = new AbortController();
    const timer = setTimeout(() => {
      const query = new URLSearchParams({ q: text, limit: "8" });
      call<{ readonly runs: readonly FoundRun[] }>(`/api/runs/summary?${query.toString()}`, {
        signal: left.signal,
      }).then(
        ({ runs }) => setEntries(runEntries(runs)),
        () => setEntries([]),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [text]);
  return entries;
}
