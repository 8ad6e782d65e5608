import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { useIsNarrow } from "../../ui/use-width.ts";
import { currentLocation, setQuery } from "../../app/location.tsx";
import type { View } from "./view/use-view.ts";

/** What stands next to the table, if it is not the charts. */
export type OtherSide = {
  /** What a phone calls it. */
  readonly label: string;
  /** Percent of the width that the table takes at first. */
  readonly split: number;
};

/** The table next to the charts, or to something else; on phones, one of them at a time. */
export function Panes({
  view,
  other,
  table,
  charts,
}: {
  readonly view: View;
  readonly other?: OtherSide | undefined;
  readonly table: ComponentChildren;
  readonly charts: ComponentChildren;
}) {
  const isNarrow = useIsNarrow();
  const { split, tab, onSplit, onTab } = other === undefined ? layoutOfCharts(view) : layoutOf(other);
  if (!isNarrow) return <Split percent={split} onChange={onSplit} start={table} end={charts} />;
  return (
    <>
      <Tabs
        name="project"
        label="Parts of the project"
        tabs={[
          { id: "table", label: "Table" },
          { id: "charts", label: other?.label ?? "Charts" },
        ]}
        current={tab}
        onSelect={onTab}
      />
      <TabPanel name="project" current={tab}>
        {tab === "table" ? table : charts}
      </TabPanel>
    </>
  );
}

type Layout = {
  readonly split: number;
  readonly tab: "table" | "charts";
  readonly onSplit: (split: number) => void;
  readonly onTab: (tab: "table" | "charts") => void;
};

const layoutOfCharts = ({ state: { split, tab }, change }: View): Layout => ({
  split,
  tab,
  onSplit: (next) => change({ split: next }, { replace: true }),
  onTab: (next) => change({ tab: next }, { replace: true }),
});

/** Another side has names of its own in the address, as it begins otherwise. */
function layoutOf({ split }: OtherSide): Layout {
  const { query } = currentLocation.value;
  const drawn = /^\d{1,2}$|^100$/.exec(query.get("side") ?? "")?.[0];
  return {
    split: drawn === undefined ? split : Number(drawn),
    tab: query.get("pane") === "table" ? "table" : "charts",
    onSplit: (next) => setQuery({ side: String(next) }, { replace: true }),
    onTab: (next) => setQuery({ pane: next === "table" ? next : undefined }, { replace: true }),
  };
}

const STEP = 5;
/** A side that is drawn narrower than this collapses. */
const LEAST = 12;

const settled = (percent: number): number => {
  const bounded = Math.round(Math.max(0, Math.min(100, percent)));
  return bounded < LEAST ? 0 : bounded > 100 - LEAST ? 100 : bounded;
};

/** Two panes with a bar between them that can be drawn, moved by arrows, and collapsed by Enter or a double press. */
function Split({
  percent,
  onChange,
  start,
  end,
}: {
  readonly percent: number;
  readonly onChange: (percent: number) => void;
  readonly start: ComponentChildren;
  readonly end: ComponentChildren;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<number | undefined>();
  const shown = drawn ?? percent;
  const at = (event: PointerEvent): number => {
    const { left, width } = place.current!.getBoundingClientRect();
    return settled(((event.clientX - left) / width) * 100);
  };
  const collapse = (): void => onChange(percent === 0 || percent === 100 ? 45 : 100);
  return (
    <div ref={place} class="tm-split">
      {shown > 0 && (
        <div class="tm-split-pane" style={{ width: `${shown}%` }}>
          {start}
        </div>
      )}
      <div
        class="tm-split-bar"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the table"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={shown}
        tabIndex={0}
        onDblClick={collapse}
        onPointerDown={(event) => {
          event.preventDefault();
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrawn(percent);
        }}
        onPointerMove={(event) => drawn !== undefined && setDrawn(at(event))}
        onPointerUp={() => {
          if (drawn !== undefined && drawn !== percent) onChange(drawn);
          setDrawn(undefined);
        }}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
          if (by !== undefined) onChange(Math.max(0, Math.min(100, percent + by)));
          else if (event.key === "Enter") collapse();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {shown < 100 && <div class="tm-split-pane tm-split-rest">{end}</div>}
    </div>
  );
}
