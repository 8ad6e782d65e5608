import { useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../ui/use-width.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { barAt, barNotes, barScene, barsHeight } from "./bar-scene.ts";
import { barsDomain, barsSheet, drawnBars, type Bar } from "./bars.ts";
import { Figure } from "./figure.tsx";

/** A bar for each run or group, from the first to the last. Up and down go from bar to bar; Enter and a press open a run. */
export function BarChart({
  title,
  label,
  bars,
  what,
  highlight,
  onHighlight,
  onOpen,
}: {
  readonly title: string;
  /** What the bars measure. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** What a bar is of. */
  readonly what: "run" | "group";
  readonly highlight?: string | undefined;
  readonly onHighlight?: ((id: string | undefined) => void) | undefined;
  readonly onOpen?: ((id: string) => void) | undefined;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  const one = pointed ?? highlight;
  const chosen = useMemo(() => drawnBars(bars), [bars]);
  const drawn = useMemo(
    () => (width === 0 ? undefined : barScene(chosen, label, width, inks, one)),
    [chosen, label, width, inks, one],
  );
  const point = (id: string | undefined): void => {
    if (id === pointed) return;
    setPointed(id);
    onHighlight?.(id);
  };
  const bar = chosen.drawn.find(({ id }) => id === pointed);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && pointed !== undefined) onOpen?.(pointed);
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0 || chosen.drawn.length === 0) return;
    event.preventDefault();
    const at = chosen.drawn.findIndex(({ id }) => id === pointed);
    point(chosen.drawn[Math.min(Math.max(0, at + by), chosen.drawn.length - 1)]!.id);
  };
  const ends = barsDomain(chosen.drawn).map(shortNumber).join(" to ");
  return (
    <Figure
      place={place}
      title={title}
      summary={`${title}: ${counted(chosen.drawn.length, what)}, ${label} ${ends}. Up and down go from ${what} to ${what}.`}
      scene={drawn?.scene}
      sheet={barsSheet(chosen, label)}
      height={barsHeight(chosen.drawn.length)}
      announced={bar === undefined ? "" : barWords(bar, label)}
      notes={barNotes(chosen, what)}
      onPoint={(_left, top) => point(drawn === undefined ? undefined : barAt(drawn, top))}
      onPress={(_left, top) => {
        const id = drawn === undefined ? undefined : barAt(drawn, top);
        if (id !== undefined) onOpen?.(id);
      }}
      onLeave={() => point(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}

function barWords({ name, value, spread }: Bar & { readonly value: number }, label: string): string {
  const deviation =
    spread === undefined ? "" : ` ± ${shortNumber(Number(spread.std.toPrecision(3)))}, ${counted(spread.count, "run")}`;
  return `${name}: ${label} ${shortNumber(value)}${deviation}`;
}
