import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/class-names.ts";
import { rowOfLine, rowStarts, windowOfRow, windowRange, type LogLine, type LogWindows } from "./log-windows.ts";
import { layoutOf, scrollTo, sliceOf } from "./scroll.ts";
import { renderAnsi, type AnsiStyle } from "./ansi.ts";

const ROW_HEIGHT = 19;

type Row = { readonly key: string; readonly line: LogLine | undefined; readonly number: number };

/**
 * The lines of a stream in a box that scrolls: of a million lines only those in sight are drawn and loaded. At its end it follows new lines;
 * scrolling up stops that. `jump` scrolls a line number into sight whenever it changes.
 */
export function LogView({
  label,
  windows,
  need,
  wrap,
  times,
  jump,
  here,
}: {
  readonly label: string;
  readonly windows: LogWindows;
  readonly need: (windows: readonly number[]) => void;
  readonly wrap: boolean;
  readonly times: boolean;
  readonly jump: number | undefined;
  /** The line that is marked, in a merged log; default: the one to which it jumps. */
  readonly here?: LogLine["own"];
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(600);
  const [top, setTop] = useState(0);
  const [isFollowing, setFollowing] = useState(jump === undefined);
  /** The line at the top of the box, which stays there when lines above it turn out to be more or fewer. */
  const anchor = useRef<{ readonly number: number; readonly offset: number } | undefined>(undefined);
  const starts = rowStarts(windows);
  const rows = starts[starts.length - 1] ?? 0;
  const { height } = layoutOf(rows, ROW_HEIGHT, view);
  const slice = sliceOf(rows, ROW_HEIGHT, view, top);
  const shown = rowsOf(windows, starts, slice.first, slice.end);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setView(element.clientHeight));
    observer.observe(element);
    setView(element.clientHeight);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const wanted = new Set<number>();
    for (let row = slice.first; row < slice.end; row += 100) wanted.add(windowOfRow(starts, row));
    if (slice.end > slice.first) wanted.add(windowOfRow(starts, slice.end - 1));
    need([...wanted]);
  });

  const moveTo = (scrollTop: number): void => {
    const element = box.current;
    if (element === null) return;
    element.scrollTop = scrollTop;
    setTop(element.scrollTop);
  };

  useLayoutEffect(() => {
    if (isFollowing) moveTo(Number.MAX_SAFE_INTEGER);
    else if (anchor.current !== undefined) {
      const { number, offset } = anchor.current;
      moveTo(scrollTo(rows, ROW_HEIGHT, view, rowOfLine(windows, starts, number)) + offset);
    }
    // Only new lines and another size of the box move it, not its own scrolling.
  }, [windows, view, wrap, isFollowing]);

  useEffect(() => {
    if (jump === undefined) return;
    setFollowing(false);
    anchor.current = { number: jump, offset: -Math.floor(view / 3) };
    moveTo(scrollTo(rows, ROW_HEIGHT, view, rowOfLine(windows, starts, jump)) - Math.floor(view / 3));
  }, [jump]);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    setTop(scrollTop);
    setFollowing(scrollHeight - scrollTop - clientHeight < ROW_HEIGHT * 2);
    const { scale } = layoutOf(rows, ROW_HEIGHT, view);
    const row = Math.floor((scrollTop * scale) / ROW_HEIGHT);
    const number = rowsOf(windows, starts, row, row + 1)[0]?.number;
    anchor.current = number === undefined ? undefined : { number, offset: scrollTop - (row * ROW_HEIGHT) / scale };
  };

  const isHere = (line: LogLine | undefined, number: number): boolean =>
    here === undefined || line?.own === undefined
      ? number === jump
      : line.own.stream === here.stream && line.own.number === here.number;
  const digits = String(windows.last).length;
  return (
    <div class="tm-log-frame">
      <div
        ref={box}
        class={classes("tm-log", wrap && "tm-log-wrap")}
        role="region"
        aria-label={label}
        tabIndex={0}
        onScroll={onScroll}
        data-following={isFollowing}
      >
        <div class="tm-log-space" style={{ height: `${height}px` }}>
          <div class="tm-log-rows" style={{ transform: `translateY(${slice.top}px)` }}>
            {shown.map(({ key, line, number }) => (
              <div
                key={key}
                class={classes(
                  "tm-log-row",
                  isHere(line, number) && "tm-log-here",
                  line?.own?.stream === "stderr" && "tm-log-stderr",
                )}
                data-line={line?.own?.number ?? number}
              >
                <span class="tm-log-number" style={{ minWidth: `${digits}ch` }} aria-hidden="true">
                  {line?.own?.number ?? number}
                </span>
                {line?.own?.stream === "stderr" && <span class="tm-hidden">stderr: </span>}
                {times && <span class="tm-log-time">{line === undefined ? "" : timeWords(line.at)}</span>}
                <span class="tm-log-text">{line === undefined ? "…" : <AnsiText text={line.text} />}</span>
              </div>
            ))}
          </div>
        </div>
      </div>
      {!isFollowing && (
        <Button class="tm-log-follow" icon="arrow-down" size="s" kind="primary" onClick={() => setFollowing(true)}>
          Jump to end
        </Button>
      )}
    </div>
  );
}

function rowsOf(windows: LogWindows, starts: Float64Array, first: number, end: number): readonly Row[] {
  const rows: Row[] = [];
  if (starts.length < 2) return rows;
  let window = windowOfRow(starts, first);
  for (let row = first; row < end; row += 1) {
    while (row >= (starts[window + 1] ?? Infinity)) window += 1;
    const index = row - starts[window]!;
    const line = windows.loaded.get(window)?.[index];
    const number = line?.number ?? windowRange(windows, window).from + index;
    rows.push({ key: `${window}/${index}`, line, number });
  }
  return rows;
}

const clock = new Intl.DateTimeFormat("en-US", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

function timeWords(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? "" : clock.format(ms);
}

/** A console line with its colors. Its text stays text, with any content. */
function AnsiText({ text }: { readonly text: string }) {
  return (
    <>
      {renderAnsi(text).map(({ text: piece, style }, i) => {
        const names = classOf(style);
        const colors = colorsOf(style);
        if (names === "" && colors === undefined) return piece;
        return (
          <span key={i} class={names} {...(colors === undefined ? {} : { style: colors })}>
            {piece}
          </span>
        );
      })}
    </>
  );
}

function classOf({ fg, bg, bold, dim, italic, underline, inverse }: AnsiStyle): string {
  return [
    typeof fg === "number" ? `tm-ansi-${fg}` : "",
    typeof bg === "number" ? `tm-ansi-on-${bg}` : "",
    bold === true ? "tm-ansi-bold" : "",
    dim === true ? "tm-ansi-dim" : "",
    italic === true ? "tm-ansi-italic" : "",
    underline === true ? "tm-ansi-underline" : "",
    inverse === true ? "tm-ansi-inverse" : "",
  ]
    .filter((name) => name !== "")
    .join(" ");
}

function colorsOf({ fg, bg }: AnsiStyle): { color?: string; backgroundColor?: string } | undefined {
  if (typeof fg !== "string" && typeof bg !== "string") return undefined;
  return {
    ...(typeof fg === "string" ? { color: fg } : {}),
    ...(typeof bg === "string" ? { backgroundColor: bg } : {}),
  };
}
