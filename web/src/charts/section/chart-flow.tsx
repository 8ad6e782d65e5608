import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { movedInto, movedTo, orderWith } from "../keys/order.ts";
import { ChartCard, type VisibleCards } from "./card-grid.tsx";
import type { ChartContext, ShownChart } from "./chart-context.ts";

/** Cards of a section before the user asks for more. */
const CARDS_AT_ONCE = 24;
const CARD_WIDTH_MIN = 320;
const GAP = 12;
/** Pixels of a card next to its plot. */
const FRAME = 24;

/** The id of the section of pinned charts; no other section's has a slash and a name. */
export const PINNED = "/pinned";

/** Cards that belong together. */
export type FlowSection = {
  /** What the address calls it when it is opened or closed. */
  readonly id: string;
  /** Its heading; undefined for none. */
  readonly label: string | undefined;
  readonly charts: readonly ShownChart[];
  readonly isOpen: boolean;
};

/** Sections of charts. Those that are open flow through one grid, so that short ones leave no holes; of a closed one only the heading is shown. */
export function ChartFlow({
  sections,
  context,
  visibleCards,
  width,
}: {
  readonly sections: readonly FlowSection[];
  readonly context: ChartContext;
  readonly visibleCards: VisibleCards;
  readonly width: number;
}) {
  const [drag, setDrag] = useState<Drag>({ key: undefined, over: undefined });
  const drags: Drags = {
    ...drag,
    set: (changes) => setDrag((before) => ({ ...before, ...changes })),
    drop: (event, section, to) => {
      event.preventDefault();
      if (drag.key !== undefined) moveChart(context, section, drag.key, to);
      setDrag({ key: undefined, over: undefined });
    },
  };
  const columns = Math.max(1, Math.floor((width + GAP) / (CARD_WIDTH_MIN + GAP)));
  return (
    <>
      {flowsOf(sections).map((flow, i) =>
        flow[0]!.isOpen ? (
          <div key={i} class="tm-chart-grid" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
            {flow.map((section) => (
              <OpenSection
                key={section.id}
                section={section}
                context={context}
                visibleCards={visibleCards}
                columns={columns}
                width={width}
                drags={drags}
              />
            ))}
          </div>
        ) : (
          flow.map((section) => (
            <section key={section.id} aria-label={section.label}>
              <Heading section={section} context={context} drags={drags} />
            </section>
          ))
        ),
      )}
    </>
  );
}

/** The chart that is dragged, by its key, and the chart or the section that it is over. */
type Drag = { readonly key: string | undefined; readonly over: string | undefined };

type Drags = Drag & {
  readonly set: (changes: Partial<Drag>) => void;
  /** Puts the dragged chart into a section, at a place in it. */
  readonly drop: (event: DragEvent, section: FlowSection, to: number) => void;
};

/** Puts a chart at a place in a section, from wherever it is. In the section of pinned charts it is pinned, elsewhere it is not. */
function moveChart({ state, change }: ChartContext, section: FlowSection, key: string, to: number): void {
  const next = movedTo(
    section.charts.map((chart) => chart.key),
    key,
    to,
  );
  if (section.id === PINNED) return change({ pinned: next }, { replace: true });
  const pinned = state.pinned.filter((one) => one !== key);
  const moved = movedInto(state.moved, key, section.id === "/" ? "" : section.id);
  change({ pinned, moved, order: orderWith(state.order, next) }, { replace: true });
}

/** Puts neighbors together that are open, and those that are closed. */
function flowsOf(sections: readonly FlowSection[]): FlowSection[][] {
  const flows: FlowSection[][] = [];
  for (const section of sections) {
    const last = flows.at(-1);
    if (last?.[0]!.isOpen === section.isOpen) last.push(section);
    else flows.push([section]);
  }
  return flows;
}

function OpenSection({
  section,
  context,
  visibleCards,
  columns,
  width,
  drags,
}: {
  readonly section: FlowSection;
  readonly context: ChartContext;
  readonly visibleCards: VisibleCards;
  readonly columns: number;
  readonly drags: Drags;
  /** Of all columns, in pixels. */
  readonly width: number;
}) {
  const [shown, setShown] = useState(CARDS_AT_ONCE);
  const { charts, label } = section;
  const widthOf = (span: number): number => (width === 0 ? 0 : ((width + GAP) / columns) * span - GAP - FRAME);
  return (
    <section class="tm-chart-group" aria-label={label ?? "Metrics"}>
      {charts.slice(0, shown).map((chart, i) => {
        const span = Math.min(chart.size, columns);
        return (
          <div
            key={chart.key}
            class={classes("tm-chart-cell", drags.over === chart.key && drags.key !== chart.key && "is-target")}
            style={{ gridColumn: `span ${span}` }}
            onDragOver={(event) => {
              if (drags.key === undefined) return;
              event.preventDefault();
              drags.set({ over: chart.key });
            }}
            onDrop={(event) => drags.drop(event, section, i)}
          >
            {i === 0 && label !== undefined ? <Heading section={section} context={context} drags={drags} /> : <span />}
            <ChartCard
              context={context}
              chart={chart}
              width={widthOf(span)}
              visibleCards={visibleCards}
              place={{
                isFirst: i === 0,
                isLast: i === charts.length - 1,
                onMove: (by) => moveChart(context, section, chart.key, i + by),
                onDrag: (isDragged) => drags.set({ key: isDragged ? chart.key : undefined, over: undefined }),
              }}
            />
          </div>
        );
      })}
      {charts.length > shown && (
        <div class="tm-chart-cell">
          <span />
          <div class="tm-chart-more">
            <Button onClick={() => setShown(shown + 2 * CARDS_AT_ONCE)}>
              {`Show ${Math.min(charts.length - shown, 2 * CARDS_AT_ONCE)} more of ${charts.length}`}
            </Button>
          </div>
        </div>
      )}
    </section>
  );
}

/** The name of a section, which opens and closes it, and takes charts that are dropped on it. */
function Heading({
  section,
  context: { state, change },
  drags,
}: {
  readonly section: FlowSection;
  readonly context: ChartContext;
  readonly drags: Drags;
}) {
  const { id, label, charts, isOpen } = section;
  const toggle = (): void => {
    const [opened, closed] = [state.opened, state.closed].map((ids) => ids.filter((one) => one !== id)) as [
      string[],
      string[],
    ];
    if (isOpen) closed.push(id);
    else opened.push(id);
    change({ opened, closed }, { replace: true });
  };
  return (
    <h2
      class={classes("tm-chart-heading", drags.over === `heading ${id}` && "is-target")}
      onDragOver={(event) => {
        if (drags.key === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        drags.set({ over: `heading ${id}` });
      }}
      onDrop={(event) => {
        event.stopPropagation();
        drags.drop(event, section, charts.length);
      }}
    >
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        {label} <small>{charts.length}</small>
      </button>
    </h2>
  );
}
