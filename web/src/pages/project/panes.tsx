import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { useIsNarrow } from "../../ui/use-width.ts";
import type { View } from "./view/use-view.ts";

/** The table next to the charts; on phones, one of them at a time. */
export function Panes({
  view: { state, change },
  table,
  charts,
}: {
  readonly view: View;
  readonly table: ComponentChildren;
  readonly charts: ComponentChildren;
}) {
  const isNarrow = useIsNarrow();
  if (!isNarrow) {
    return (
      <Split
        percent={state.split}
        onChange={(split) => change({ split }, { replace: true })}
        start={table}
        end={charts}
      />
    );
  }
  return (
    <>
      <Tabs
        name="project"
        label="Parts of the project"
        tabs={[
          { id: "table", label: "Table" },
          { id: "charts", label: "Charts" },
        ]}
        current={state.tab}
        onSelect={(tab) => change({ tab }, { replace: true })}
      />
      <TabPanel name="project" current={state.tab}>
        {state.tab === "table" ? table : charts}
      </TabPanel>
    </>
  );
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
