import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ChartCard } from "./chart-card.tsx";
import type { VisibleCards } from "./visible-cards.ts";
import type { ChartContext } from "./types.ts";

/** Cards of a section before the user asks for more. */
const CARDS_AT_ONCE = 24;
const CARD_WIDTH_MIN = 320;
const GAP = 12;
/** Pixels of a card next to its plot. */
const FRAME = 24;

/** The cards of keys that belong together, under a heading that opens and closes them. */
export function CardGrid({
  context,
  visibleCards,
  width,
  name,
  keys,
  isFirst,
  isBare = false,
}: {
  readonly context: ChartContext;
  readonly visibleCards: VisibleCards;
  readonly width: number;
  readonly name: string;
  readonly keys: readonly string[];
  readonly isFirst: boolean;
  readonly isBare?: boolean;
}) {
  const [open, setOpen] = useState<boolean | undefined>(undefined);
  const [shown, setShown] = useState(CARDS_AT_ONCE);
  if (keys.length === 0) return null;
  // A search opens what it finds.
  const isOpen = open ?? (isFirst || context.state.search !== "");
  const columns = Math.max(1, Math.floor((width + GAP) / (CARD_WIDTH_MIN + GAP)));
  const cardWidth = width === 0 ? 0 : (width - GAP * (columns - 1)) / columns - FRAME;
  const label = name === "" ? "Metrics" : name;
  return (
    <section class="tm-chart-group" aria-label={label}>
      {!isBare && (
        <h2>
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
            {label} <small>{keys.length}</small>
          </button>
        </h2>
      )}
      {isOpen && (
        <div class="tm-chart-grid" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {keys.slice(0, shown).map((key) => (
            <ChartCard key={key} context={context} name={key} width={cardWidth} visibleCards={visibleCards} />
          ))}
        </div>
      )}
      {isOpen && keys.length > shown && (
        <Button size="s" onClick={() => setShown(shown + 2 * CARDS_AT_ONCE)}>
          {`Show ${Math.min(keys.length - shown, 2 * CARDS_AT_ONCE)} more of ${keys.length}`}
        </Button>
      )}
    </section>
  );
}
