import type { ReadonlySignal } from "@preact/signals";
import { Link } from "../../../app/location.tsx";
import { runAddress } from "../../../app/addresses.ts";
import { RunSwatch } from "../../../charts/index.ts";
import { Icon } from "../../../ui/icon.tsx";
import { Badge, StatusBadge, StatusDot } from "../../../ui/status-badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { Time } from "../../../ui/time.tsx";
import { durationWords, spanWords } from "../../../ui/words.ts";
import { durationMs, type TableRun } from "../runs/shown-runs.ts";
import { cellWords, columnSource, valueWords } from "./columns.ts";

/** The eye, the look and the name of a run: the legend of the charts. */
export function NameCell({
  run,
  project,
  isOn,
  isPinned,
  isBase,
  onToggle,
  onLook,
}: {
  readonly run: TableRun;
  readonly project: string;
  readonly isOn: boolean;
  readonly isPinned: boolean;
  readonly isBase: boolean;
  readonly onToggle: () => void;
  /** Called when the user wants another color for it. */
  readonly onLook: () => void;
}) {
  return (
    <>
      <IconButton
        icon={isOn ? "eye" : "eye-off"}
        label={`${isOn ? "Hide" : "Show"} the lines of ${run.name}`}
        size="s"
        pressed={isOn}
        tabIndex={-1}
        onClick={onToggle}
      />
      <button
        type="button"
        class={isOn ? "tm-legend" : "tm-legend tm-legend-off"}
        tabIndex={-1}
        title="Change color"
        aria-label={`Change the color of ${run.name}`}
        onClick={onLook}
      >
        <RunSwatch runId={run.id} />
      </button>
      <Link class="tm-grid-text tm-run-link" href={runAddress(project, run.id)} title={run.name} tabIndex={-1}>
        {run.name}
      </Link>
      {(isBase || isPinned) && (
        <span class="tm-row-mark" title={isBase ? "Baseline" : "Pinned"}>
          <Icon name={isBase ? "flag" : "pin"} />
          <span class="tm-hidden">{isBase ? "Baseline" : "Pinned"}</span>
        </span>
      )}
    </>
  );
}

/** The status of a run; if a stop was requested, also since when, and whether the training knows. */
function StatusCell({
  run,
  now,
  hasWords,
}: {
  readonly run: TableRun;
  readonly now: ReadonlySignal<number>;
  readonly hasWords: boolean;
}) {
  const { display_status: status, stop_requested_at: asked, stop_acknowledged_at: known } = run.run_control;
  const stop =
    status === "stopping" && asked !== null
      ? `${known === null ? "asked" : "acknowledged"} ${spanWords(now.value - Date.parse(known ?? asked))} ago`
      : "";
  if (!hasWords) return <StatusDot status={status} stale={run.stale} more={stop} />;
  return (
    <>
      <StatusBadge status={status} stale={run.stale} />
      {stop !== "" && (
        <span
          class="tm-grid-text tm-muted tm-stop-age"
          title={known === null ? "Not acknowledged yet" : "Acknowledged by the training"}
        >
          {stop}
        </span>
      )}
    </>
  );
}

const nonFiniteTitle = (last: unknown): string =>
  `The newest value is NaN or infinite. ${typeof last === "number" ? `The latest finite value is ${last}.` : "No value is finite."}`;

/** The value of a run in a column; with a baseline also the difference of numbers. */
export function ValueCell({
  run,
  name,
  now,
  base,
  hasWords,
}: {
  readonly run: TableRun;
  readonly name: string;
  readonly now: ReadonlySignal<number>;
  readonly base: TableRun | undefined;
  /** Whether there is room for the word of a status. */
  readonly hasWords: boolean;
}) {
  const source = columnSource(name);
  if (source?.kind !== "field") {
    const value = run.columns?.[name];
    const reference = base === undefined || base.id === run.id ? undefined : base.columns?.[name];
    const text = cellWords(run, name);
    const isFinite = (of: TableRun | undefined): boolean => of?.non_finite_columns?.includes(name) !== true;
    const title = typeof value === "number" ? String(value) : text;
    return (
      <span class="tm-grid-text" title={isFinite(run) ? title : nonFiniteTitle(value)}>
        {text === "" ? <span class="tm-muted">–</span> : text}
        {typeof value === "number" &&
          typeof reference === "number" &&
          value !== reference &&
          isFinite(run) &&
          isFinite(base) && (
            <span class="tm-muted tm-delta">
              {" "}
              {value > reference ? "+" : "−"}
              {valueWords(Number(Math.abs(value - reference).toPrecision(3)))}
            </span>
          )}
      </span>
    );
  }
  switch (source.field) {
    case "status":
      return <StatusCell run={run} now={now} hasWords={hasWords} />;
    case "created":
      return <Time at={run.created_at} />;
    case "duration":
      return <span class="tm-grid-text">{durationWords(durationMs(run, () => now.value))}</span>;
    case "tags":
      return (
        <span class="tm-grid-text" title={run.tags.join(", ")}>
          {run.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </span>
      );
    case "notes":
      return (
        <span class="tm-grid-text" title={run.notes ?? ""}>
          {run.notes}
        </span>
      );
    case "id":
      return <code class="tm-grid-text">{run.id}</code>;
  }
}
