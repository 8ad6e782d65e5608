import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { movedTo, orderWith } from "../keys/order.ts";
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
              />
            ))}
          </div>
        ) : (
          flow.map((section) => (
            <section key={section.id} aria-label={section.label}>
              <Heading section={section} context={context} />
            </section>
          ))
        ),
      )}
    </>
  );
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
}: {
  readonly section: FlowSection;
  readonly context: ChartContext;
  readonly visibleCards: VisibleCards;
  readonly columns: number;
  /** Of all columns, in pixels. */
  readonly width: number;
}) {
  const [shown, setShown] = useState(CARDS_AT_ONCE);
  const { charts, label } = section;
  const keys = charts.map(({ key }) => key);
  const [dragged, setDragged] = useState<string | undefined>(undefined);
  const [over, setOver] = useState<string | undefined>(undefined);
  const move = (key: string, to: number): void => {
    const next = movedTo(keys, key, to);
    const { order } = context.state;
    context.change(section.id === PINNED ? { pinned: next } : { order: orderWith(order, next) }, { replace: true });
  };
  const drop = (event: DragEvent, to: number): void => {
    event.preventDefault();
    if (dragged !== undefined) move(dragged, to);
    setDragged(undefined);
    setOver(undefined);
  };
  const widthOf = (span: number): number => (width === 0 ? 0 : ((width + GAP) / columns) * span - GAP - FRAME);
  return (
    <section class="tm-chart-group" aria-label={label ?? "Metrics"}>
      {charts.slice(0, shown).map((chart, i) => {
        const span = Math.min(chart.size, columns);
        return (
          <div
            key={chart.key}
            class={classes("tm-chart-cell", over === chart.key && dragged !== chart.key && "is-target")}
            style={{ gridColumn: `span ${span}` }}
            onDragOver={(event) => {
              if (dragged === undefined) return;
              event.preventDefault();
              setOver(chart.key);
            }}
            onDrop={(event) => drop(event, i)}
          >
            {i === 0 && label !== undefined ? <Heading section={section} context={context} /> : <span />}
            <ChartCard
              context={context}
              chart={chart}
              width={widthOf(span)}
              visibleCards={visibleCards}
              place={{
                isFirst: i === 0,
                isLast: i === charts.length - 1,
                onMove: (by) => move(chart.key, i + by),
                onDrag: (isDragged) => {
                  setDragged(isDragged ? chart.key : undefined);
                  setOver(undefined);
                },
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

/** The name of a section, which opens and closes it. */
function Heading({
  section: { id, label, charts, isOpen },
  context: { state, change },
}: {
  readonly section: FlowSection;
  readonly context: ChartContext;
}) {
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
    <h2 class="tm-chart-heading">
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        {label} <small>{charts.length}</small>
      </button>
    </h2>
  );
}
