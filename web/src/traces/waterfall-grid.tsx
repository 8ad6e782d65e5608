import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { layoutOf, scrollTo, sliceOf } from "../logs/scroll.ts";
import { classes } from "../ui/class-names.ts";
import { Icon } from "../ui/icon.tsx";
import { counted, countWords } from "../ui/words.ts";
import { kindWords } from "./messages.ts";
import { barOf, spanDurationWords, type SpanRow, type TimeRange } from "./waterfall.ts";

const ROW_HEIGHT = 26;
/** Levels that are indented; deeper ones stay below each other. */
const INDENTED_MAX = 24;

/** The spans of a trace as a tree next to their bars; only rows in sight are in the page. Arrows move, Right and Left open and close. */
export function WaterfallGrid({
  rows,
  range,
  chosenId,
  onChoose,
  onToggle,
  onMore,
}: {
  readonly rows: readonly SpanRow[];
  readonly range: TimeRange;
  readonly chosenId: string | null;
  readonly onChoose: (spanId: string) => void;
  readonly onToggle: (spanId: string) => void;
  readonly onMore: (parentId: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(500);
  const [top, setTop] = useState(0);
  const chosen = rows.findIndex((row) => row.kind === "span" && row.span.span_id === chosenId);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setView(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const slice = sliceOf(rows.length, ROW_HEIGHT, view, top);
  const { height } = layoutOf(rows.length, ROW_HEIGHT, view);

  const show = (index: number): void => {
    const row = rows[index];
    const element = box.current;
    if (row === undefined || element === null) return;
    if (row.kind === "span") onChoose(row.span.span_id);
    const at = scrollTo(rows.length, ROW_HEIGHT, view, index);
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + ROW_HEIGHT > element.scrollTop + view) element.scrollTop = at + ROW_HEIGHT - view;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[chosen];
    const page = Math.max(1, Math.floor(view / ROW_HEIGHT) - 1);
    const target = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: chosen + page,
      PageUp: chosen - page,
    }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      show(Math.min(Math.max(target, 0), rows.length - 1));
    } else if (row?.kind === "span" && row.span.child_count > 0) {
      const isToggle = (event.key === "ArrowRight" && !row.isOpen) || (event.key === "ArrowLeft" && row.isOpen);
      if (!isToggle) return;
      event.preventDefault();
      onToggle(row.span.span_id);
    }
  };
  const drawn = rows.slice(slice.first, slice.end);
  const isDrawn = chosen >= slice.first && chosen < slice.end;
  // A span that was chosen elsewhere comes into sight.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || chosen < 0) return;
    const at = scrollTo(rows.length, ROW_HEIGHT, view, chosen);
    if (at < element.scrollTop || at + ROW_HEIGHT > element.scrollTop + view) element.scrollTop = at - view / 2;
  }, [chosenId, chosen < 0]);
  return (
    <div
      ref={box}
      class="tm-waterfall"
      role="tree"
      aria-label="Spans"
      tabIndex={0}
      style={{ "--rows-height": `${rows.length * ROW_HEIGHT + 2}px` }}
      {...(isDrawn ? { "aria-activedescendant": `span-${chosenId}` } : {})}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="tm-waterfall-space" role="presentation" style={{ height: `${height}px` }}>
        <div role="presentation" style={{ transform: `translateY(${slice.top}px)` }}>
          {drawn.map((row, i) =>
            row.kind === "orphans" ? (
              <div key="orphans" class="tm-waterfall-row tm-waterfall-heading" role="treeitem" aria-level={1}>
                {counted(row.count, "span")} whose parent was not logged
              </div>
            ) : row.kind === "more" ? (
              <div
                key={`more/${row.parentId}`}
                class="tm-waterfall-row"
                role="treeitem"
                aria-level={row.depth + 1}
                onClick={() => onMore(row.parentId)}
              >
                <span class="tm-waterfall-name tm-waterfall-more" style={{ paddingInlineStart: indent(row.depth) }}>
                  Load {countWords(row.missing)} more
                </span>
              </div>
            ) : (
              <Row
                key={row.span.span_id}
                row={row}
                range={range}
                isChosen={slice.first + i === chosen}
                onChoose={onChoose}
                onToggle={onToggle}
              />
            ),
          )}
        </div>
      </div>
    </div>
  );
}

const indent = (depth: number): string => `${Math.min(depth, INDENTED_MAX) * 14 + 8}px`;

function Row({
  row: { span, depth, isOpen },
  range,
  isChosen,
  onChoose,
  onToggle,
}: {
  readonly row: Extract<SpanRow, { kind: "span" }>;
  readonly range: TimeRange;
  readonly isChosen: boolean;
  readonly onChoose: (spanId: string) => void;
  readonly onToggle: (spanId: string) => void;
}) {
  const { left, width } = barOf(span, range);
  const hasChildren = span.child_count > 0;
  const length = span.duration_ms === null ? "running" : spanDurationWords(span.duration_ms);
  return (
    <div
      id={`span-${span.span_id}`}
      class={classes("tm-waterfall-row", isChosen && "tm-waterfall-chosen")}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isChosen}
      {...(hasChildren ? { "aria-expanded": isOpen } : {})}
      onClick={() => onChoose(span.span_id)}
    >
      <span class="tm-waterfall-name" style={{ paddingInlineStart: indent(depth) }}>
        <span
          class="tm-waterfall-toggle"
          onClick={(event) => {
            if (!hasChildren) return;
            event.stopPropagation();
            onToggle(span.span_id);
          }}
        >
          {hasChildren && <Icon name={isOpen ? "chevron-down" : "chevron-right"} size={12} />}
        </span>
        <span class="tm-waterfall-text">{span.name}</span>
        <span class="tm-hidden">, </span>
        <span class="tm-muted tm-waterfall-kind">{kindWords(span)}</span>
        <span class="tm-hidden">{`, ${span.status}, `}</span>
      </span>
      <span class="tm-waterfall-lane">
        <span
          class={`tm-waterfall-bar tm-waterfall-${span.status}`}
          style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
        />
      </span>
      <span class="tm-waterfall-length">{length}</span>
    </div>
  );
}
