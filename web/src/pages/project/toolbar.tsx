import { useEffect, useRef, useState } from "preact/hooks";
import { currentLocation } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { counted } from "../../ui/words.ts";
import { columnName } from "./table/columns.ts";
import { QueryBox } from "./search/query-box.tsx";
import { QueryHints } from "./search/query-hints.tsx";
import { useProjectKeys, wordAt } from "./search/suggestions.ts";
import { FIRST_CHOICES, type ViewState } from "./view/view-state.ts";
import { ViewsMenu } from "./view/views-menu.tsx";

/** Milliseconds after the last letter before a search is sent. */
const PAUSE_MS = 200;

/** The name of the project, the search, and the display options. */
export function Toolbar({
  project,
  projectId,
  state,
  total,
  lines,
  error,
  onChange,
  onPick,
}: {
  readonly project: string;
  readonly projectId: string | undefined;
  readonly state: ViewState;
  readonly total: number | undefined;
  readonly lines: number;
  readonly error: unknown;
  readonly onChange: (changes: Partial<ViewState>, options?: { readonly replace?: boolean }) => void;
  readonly onPick: () => void;
}) {
  const [text, setText] = useState(state.q);
  const [typed, setTyped] = useState("");
  const sent = useRef(state.q);
  // Going back in the history changes the search from outside.
  useEffect(() => {
    if (state.q !== sent.current) setText(state.q);
    sent.current = state.q;
  }, [state.q]);
  useEffect(() => {
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange({ q: text }, { replace: true });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const part = wordAt(typed, typed.length).text.replace(/^(config|metrics|attributes)\./, "");
  const keys = useProjectKeys(part.length < 2 ? undefined : projectId, part);
  const names = keys.map(({ kind, name }) =>
    kind === "metric" ? `metrics.${name}.best` : columnName({ kind, key: name }),
  );
  return (
    <header class="tm-project-head">
      <div class="tm-project-title">
        <h1 class="tm-grid-text" title={project}>
          {project}
        </h1>
        <span class="tm-muted" role="status">
          {total === undefined ? "Loading" : `${counted(total, "run")}, ${lines} shown`}
        </span>
      </div>
      <QueryBox value={text} onInput={setText} keys={names} error={error} onTyped={setTyped}>
        <QueryHints q={state.q} projectId={projectId} onTake={setText} />
      </QueryBox>
      <div class="tm-project-tools">
        <Menu
          label="Lines"
          button={{ icon: "eye" }}
          items={FIRST_CHOICES.map((first) => ({
            label: `First ${first} runs`,
            checked: state.first === first,
            onSelect: () => onChange({ first, show: [], hide: [] }),
          }))}
        >
          {`First ${state.first}`}
        </Menu>
        <Button icon="columns" onClick={onPick}>
          Columns
        </Button>
        <ViewsMenu project={project} current={currentLocation.value.query.get("view") ?? undefined} />
      </div>
    </header>
  );
}
