import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import { ChartBody } from "./chart-body.tsx";
import { downloadCsv, downloadPng, downloadSvg } from "./downloads.ts";
import type { VisibleCards } from "./visible-cards.ts";
import type { ChartContext } from "./types.ts";
import { bucketsOf, useLines } from "./use-lines.ts";

const HEIGHT = 220;

/** The name of the horizontal axis in files. */
function axisName({ x, group }: ChartContext["state"]): string {
  if (group !== undefined || x === "step") return "step";
  return x === "relative" ? "seconds" : x === "time" ? "unix_ms" : x.slice("metric:".length);
}

/** The chart of a key in its card. It reads and draws only while it is in view. */
export function ChartCard({
  context,
  name,
  width,
  visibleCards,
}: {
  readonly context: ChartContext;
  readonly name: string;
  /** Of the card, in pixels. */
  readonly width: number;
  readonly visibleCards: VisibleCards;
}) {
  const card = useRef<HTMLElement>(null);
  const handle = useRef<ChartHandle | undefined>(undefined);
  const [inView, setInView] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [isFull, setFull] = useState(false);
  useEffect(() => visibleCards.watch(card.current!, setInView), []);
  const data = useLines(context, name, bucketsOf(width), inView && width > 0);
  const { state, change } = context;
  const isPinned = state.pinned.includes(name);
  const save = (write: (drawn: NonNullable<ReturnType<ChartHandle["drawn"]>>) => unknown) => (): void => {
    const drawn = handle.current?.drawn();
    if (drawn !== undefined) void write(drawn);
  };
  const canSave = inView && !asTable && data.lines !== undefined && data.lines.length > 0;
  return (
    <article ref={card} class="tm-chart-card" aria-label={name} aria-busy={data.busy || undefined} data-key={name}>
      <header>
        <h3>{name}</h3>
        {data.busy && <Spinner />}
        <IconButton
          icon="pin"
          size="s"
          label={isPinned ? `Unpin ${name}` : `Pin ${name} to the top`}
          pressed={isPinned}
          onClick={() =>
            change({ pinned: isPinned ? state.pinned.filter((key) => key !== name) : [...state.pinned, name] })
          }
        />
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
            "line",
            {
              label: "Download CSV",
              icon: "download",
              disabled: !canSave,
              onSelect: save((drawn) => downloadCsv(data.lines!, drawn, name, axisName(state))),
            },
            {
              label: "Download PNG",
              icon: "image",
              disabled: !canSave,
              onSelect: save(({ scene }) => downloadPng(scene, name)),
            },
            {
              label: "Download SVG",
              icon: "image",
              disabled: !canSave,
              onSelect: save(({ scene }) => downloadSvg(scene, name)),
            },
          ]}
        />
      </header>
      {inView ? (
        <ChartBody context={context} title={name} data={data} height={HEIGHT} asTable={asTable} handle={handle} />
      ) : (
        <div style={{ height: `${HEIGHT}px` }} />
      )}
      {isFull && <FullScreen context={context} name={name} onClose={() => setFull(false)} />}
    </article>
  );
}

function FullScreen({
  context,
  name,
  onClose,
}: {
  readonly context: ChartContext;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const handle = useRef<ChartHandle | undefined>(undefined);
  const data = useLines(context, name, bucketsOf(innerWidth - 100), true);
  return (
    <Dialog title={name} wide onClose={onClose}>
      <div class="tm-chart-full">
        <ChartBody
          context={context}
          title={name}
          data={data}
          height={Math.max(240, Math.min(innerHeight - 180, 900))}
          asTable={false}
          handle={handle}
        />
      </div>
    </Dialog>
  );
}
