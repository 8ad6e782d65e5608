import { useEffect, useRef, useState } from "preact/hooks";
import { lazy } from "../../app/lazy.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import { ChartBody } from "./chart-body.tsx";
import { keysOf, titleOf, useOwnContext, type ChartContext, type ShownChart } from "./chart-context.ts";
import { FinerFault } from "./finer-fault.tsx";
import { FullScreen } from "./full-screen.tsx";
import { saveItems } from "./save-items.ts";
import { bucketsOf, useLines } from "./use-lines.ts";

const HEIGHT = 220;

const ChartSettings = lazy(async () => (await import("./chart-settings.tsx")).ChartSettings);

/** Where a card is in its section, and how it gets elsewhere. */
type CardPlace = {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Moves it by one place. */
  readonly onMove: (by: 1 | -1) => void;
  /** Says that the card is dragged, or is not anymore. */
  readonly onDrag: (isDragged: boolean) => void;
};

/** A chart in its card. It reads and draws only while it is in view. */
export function ChartCard({
  context: shared,
  chart,
  width,
  visibleCards,
  place,
}: {
  readonly context: ChartContext;
  readonly chart: ShownChart;
  /** Of the card, in pixels. */
  readonly width: number;
  readonly visibleCards: VisibleCards;
  readonly place: CardPlace;
}) {
  const card = useRef<HTMLElement>(null);
  const handle = useRef<ChartHandle | undefined>(undefined);
  const [inView, setInView] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [isFull, setFull] = useState(false);
  const [hasSettings, setSettings] = useState(false);
  useEffect(() => visibleCards.watch(card.current!, setInView), []);
  const context = useOwnContext(shared, chart);
  const { key: name } = chart;
  const title = titleOf(chart);
  const data = useLines(context, keysOf(chart), bucketsOf(width), inView && width > 0);
  const { state, change } = context;
  const isPinned = state.pinned.includes(name);
  const isFixed = chart.isFixed === true;
  const ownItems: readonly MenuItem[] = [
    { label: "Settings…", icon: "settings", onSelect: () => setSettings(true) },
    { label: "Move earlier", icon: "arrow-up", disabled: place.isFirst, onSelect: () => place.onMove(-1) },
    { label: "Move later", icon: "arrow-down", disabled: place.isLast, onSelect: () => place.onMove(1) },
  ];
  const canSave = inView && !asTable;
  return (
    <article ref={card} class="tm-chart-card" aria-label={title} aria-busy={data.busy || undefined} data-key={name}>
      <header
        draggable={!isFixed}
        onDragStart={(event) => {
          // Firefox drags nothing without data.
          event.dataTransfer?.setData("text/plain", title);
          place.onDrag(true);
        }}
        onDragEnd={() => place.onDrag(false)}
      >
        <h3>{title}</h3>
        {data.busy && <Spinner />}
        {!isFixed && (
          <IconButton
            icon="pin"
            size="s"
            label={isPinned ? `Unpin ${name}` : `Pin ${name} to the top`}
            pressed={isPinned}
            onClick={() =>
              change({ pinned: isPinned ? state.pinned.filter((key) => key !== name) : [...state.pinned, name] })
            }
          />
        )}
        <IconButton icon="expand" size="s" label={`Show ${name} full screen`} onClick={() => setFull(true)} />
        <Menu
          label={`More for ${name}`}
          align="end"
          button={{ icon: "more", kind: "quiet", size: "s" }}
          items={[
            {
              label: asTable ? "Show as chart" : "Show as table",
              icon: asTable ? "chart" : "table",
              onSelect: () => setAsTable(!asTable),
            },
            {
              label: "Show all steps",
              icon: "reset",
              hint: "0",
              disabled: state.zoom === undefined,
              onSelect: () => change({ zoom: undefined }),
            },
            ...(isFixed ? [] : ownItems),
            "line",
            ...saveItems(handle, title, canSave ? data.lines : undefined, state),
          ]}
        />
      </header>
      {inView ? (
        <>
          <ChartBody context={context} title={title} data={data} height={HEIGHT} asTable={asTable} handle={handle} />
          <FinerFault data={data} />
        </>
      ) : (
        <div style={{ height: `${HEIGHT}px` }} />
      )}
      {hasSettings && <ChartSettings context={shared} chart={chart} onClose={() => setSettings(false)} />}
      {isFull && <FullScreen context={context} chart={chart} onClose={() => setFull(false)} />}
    </article>
  );
}

/** Decides which cards read and draw. */
export type VisibleCards = { readonly watch: (element: Element, notify: (inView: boolean) => void) => () => void };

/** Cards that are slightly out of view are ready when they scroll in. */
const NEAR = "240px 0px";

/** Chooses the cards in or near view, at most `most` of them, the first to enter. */
export function createVisibleCards(most: number): VisibleCards {
  const cards = new Map<Element, { readonly notify: (inView: boolean) => void; wasInView: boolean }>();
  const near = new Set<Element>();
  const decide = (): void => {
    const chosen = new Set([...near].slice(0, most));
    for (const [element, card] of cards) {
      const next = chosen.has(element);
      if (card.wasInView === next) continue;
      card.wasInView = next;
      card.notify(next);
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      decide();
    },
    { rootMargin: NEAR },
  );
  return {
    watch: (element, notify) => {
      cards.set(element, { notify, wasInView: false });
      observer.observe(element);
      return () => {
        observer.unobserve(element);
        cards.delete(element);
        near.delete(element);
        decide();
      };
    },
  };
}
