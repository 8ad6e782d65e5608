import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import "./tabs.css";
import { classes } from "./class-names.ts";
import { Badge } from "./status-badge.tsx";

/** One tab. */
export type Tab<Id extends string = string> = {
  readonly id: Id;
  readonly label: string;
  /** How many things are behind it, where that is known. */
  readonly count?: number | undefined;
};

/** Tabs of one set of panels. `name` ties them to their `TabPanel`; `label` says what they are about. Arrows, Home and End move. */
export function Tabs<Id extends string>({
  name,
  label,
  tabs,
  current,
  onSelect,
}: {
  readonly name: string;
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly onSelect: (id: Id) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const go = (index: number): void => {
    const tab = tabs[(index + tabs.length) % tabs.length];
    if (tab === undefined) return;
    onSelect(tab.id);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(tabId(name, tab.id))}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === current);
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    go(target);
  };
  return (
    <div ref={list} class="tm-tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ id, label: text, count }) => (
        <button
          key={id}
          id={tabId(name, id)}
          type="button"
          role="tab"
          aria-selected={id === current}
          aria-controls={id === current ? panelId(name) : undefined}
          tabIndex={id === current ? 0 : -1}
          class={classes("tm-tab", id === current && "tm-tab-current")}
          onClick={() => onSelect(id)}
        >
          {text}
          {count !== undefined && <Badge>{count.toLocaleString("en-US")}</Badge>}
        </button>
      ))}
    </div>
  );
}

/** The content of the current tab of a set. */
export function TabPanel({
  name,
  current,
  children,
}: {
  readonly name: string;
  readonly current: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div id={panelId(name)} role="tabpanel" class="tm-tab-panel" tabIndex={0} aria-labelledby={tabId(name, current)}>
      {children}
    </div>
  );
}

const tabId = (name: string, id: string): string => `${name}-tab-${id}`;
const panelId = (name: string): string => `${name}-panel`;
