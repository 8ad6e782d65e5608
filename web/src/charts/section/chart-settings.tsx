import "../../pages/shared-chunk.ts";
import { useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ComboField, Select, TextField, type Option } from "../../ui/field.tsx";
import { movedInto, sectionNameOf } from "../keys/order.ts";
import { keyMatch, ownSection, sectionsOf } from "../keys/sections.ts";
import type { Smoothing, XAxis } from "../series/series.ts";
import { ALSO_MAX, plainChart, TITLE_LENGTH_MAX, withChart, type ChartOptions } from "../state/chart-options.ts";
import { smoothingStops } from "../state/chart-state.ts";
import type { ChartContext } from "./chart-context.ts";
import { axisOptions, KINDS } from "./controls.tsx";

/** The value of a choice that a chart leaves to all charts. */
const SHARED = "shared";
const AS_ALL: Option<typeof SHARED> = { value: SHARED, label: "Same as all charts" };

/** What the section of keys without a slash is called. */
const UNNAMED = "Metrics";

/** Options that change; undefined: as all charts. */
type Changes = { readonly [Name in keyof ChartOptions]?: ChartOptions[Name] | undefined };

/** The options of one chart. They apply while they are changed. */
export function ChartSettings({
  context,
  chart,
  onClose,
}: {
  readonly context: ChartContext;
  readonly chart: ChartOptions;
  readonly onClose: () => void;
}) {
  const { state, change } = context;
  const own = state.own.find(({ key }) => key === chart.key) ?? plainChart(chart.key);
  const { moved, pinned } = state;
  const before = moved.find(([key]) => key === chart.key)?.[1] ?? ownSection(chart.key);
  const [section, setSection] = useState(before);
  // A chart that moves takes its open settings with it, so that it moves last.
  const end = (): void => {
    onClose();
    if (section === before) return;
    const others = pinned.filter((key) => key !== chart.key);
    change({ moved: movedInto(moved, chart.key, section), pinned: others }, { replace: true });
  };
  const set = (changes: Changes): void =>
    change({ own: withChart(state.own, { ...own, ...changes }) }, { replace: true });
  return (
    <Dialog
      title={`Settings of ${chart.key}`}
      onClose={end}
      actions={
        <>
          <Button
            onClick={() => {
              setSection(ownSection(chart.key));
              change({ own: withChart(state.own, plainChart(chart.key)) }, { replace: true });
            }}
          >
            Reset
          </Button>
          <Button kind="primary" onClick={end}>
            Done
          </Button>
        </>
      }
    >
      <div class="tm-chart-settings">
        <TextField
          label="Title"
          value={own.title ?? ""}
          placeholder={[own.key, ...own.also].join(", ")}
          maxLength={TITLE_LENGTH_MAX}
          onInput={(title) => set({ title: title === "" ? undefined : title })}
        />
        <ComboField
          label="Section"
          hint="One of the list, or a new one."
          value={section === "" ? UNNAMED : section}
          options={sectionsOf(context.metricKeys, moved).map(({ name }) => (name === "" ? UNNAMED : name))}
          onChange={(text) => setSection(text === UNNAMED ? "" : sectionNameOf(text))}
        />
        <Select
          label="Width"
          value={String(own.size) as "1" | "2" | "3"}
          options={[
            { value: "1", label: "1 column" },
            { value: "2", label: "2 columns" },
            { value: "3", label: "3 columns" },
          ]}
          onChange={(size) => set({ size: Number(size) as 1 | 2 | 3 })}
        />
        <Select<string>
          label="X axis"
          value={own.x ?? SHARED}
          options={[AS_ALL, ...axisOptions(own.x ?? "step", context.metricKeys)]}
          onChange={(x) => set({ x: x === SHARED ? undefined : (x as XAxis) })}
        />
        <Select
          label="Y axis"
          value={own.yLog === undefined ? SHARED : own.yLog ? "log" : "linear"}
          options={[AS_ALL, { value: "linear", label: "Linear" }, { value: "log", label: "Logarithmic" }]}
          onChange={(y) => set({ yLog: y === SHARED ? undefined : y === "log" })}
        />
        <BoundFields own={own} onChange={set} />
        <SmoothingFields own={own} onChange={(smoothing) => set({ smoothing })} />
        <Select
          label="Band"
          value={own.band ?? SHARED}
          options={[
            AS_ALL,
            { value: "std", label: "Standard deviation of a group" },
            { value: "range", label: "Lowest to highest" },
            { value: "none", label: "None" },
          ]}
          onChange={(band) => set({ band: band === SHARED ? undefined : band })}
        />
        <Select
          label="Draw"
          value={own.mark ?? "lines"}
          options={[
            { value: "lines", label: "Lines" },
            { value: "points", label: "Points" },
          ]}
          onChange={(mark) => set({ mark: mark === "points" ? mark : undefined })}
        />
        <OtherMetrics own={own} keys={context.metricKeys} onChange={(also) => set({ also })} />
      </div>
    </Dialog>
  );
}

function BoundFields({
  own,
  onChange,
}: {
  readonly own: ChartOptions;
  readonly onChange: (range: { readonly yMin?: number | undefined; readonly yMax?: number | undefined }) => void;
}) {
  const [low, setLow] = useState(own.yMin === undefined ? "" : String(own.yMin));
  const [high, setHigh] = useState(own.yMax === undefined ? "" : String(own.yMax));
  const fault = boundsFault(low, high);
  const apply = (nextLow: string, nextHigh: string): void => {
    setLow(nextLow);
    setHigh(nextHigh);
    if (boundsFault(nextLow, nextHigh) === undefined) onChange({ yMin: bound(nextLow), yMax: bound(nextHigh) });
  };
  return (
    <>
      <TextField label="Y from" value={low} placeholder="Automatic" onInput={(text) => apply(text, high)} />
      <TextField label="Y to" value={high} placeholder="Automatic" error={fault} onInput={(text) => apply(low, text)} />
    </>
  );
}

const bound = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text));

function boundsFault(low: string, high: string): string | undefined {
  const [from, to] = [bound(low), bound(high)];
  if ([from, to].some((value) => value !== undefined && !Number.isFinite(value))) return "Enter numbers.";
  return from !== undefined && to !== undefined && from >= to ? "It must be greater than the start." : undefined;
}

function SmoothingFields({
  own: { smoothing },
  onChange,
}: {
  readonly own: ChartOptions;
  readonly onChange: (smoothing: ChartOptions["smoothing"] | undefined) => void;
}) {
  const chosen = typeof smoothing === "object" ? smoothing : undefined;
  return (
    <>
      <Select<Smoothing["kind"] | "none" | typeof SHARED>
        label="Smoothing"
        value={chosen?.kind ?? (smoothing === "none" ? "none" : SHARED)}
        options={[AS_ALL, ...KINDS]}
        onChange={(kind) =>
          onChange(
            kind === SHARED ? undefined : kind === "none" ? "none" : { kind, parameter: smoothingStops(kind)[4]! },
          )
        }
      />
      {chosen !== undefined && (
        <Select
          label="Amount"
          value={String(chosen.parameter)}
          options={[...new Set([...smoothingStops(chosen.kind), chosen.parameter])]
            .toSorted((a, b) => a - b)
            .map((stop) => ({ value: String(stop), label: String(stop) }))}
          onChange={(parameter) => onChange({ kind: chosen.kind, parameter: Number(parameter) })}
        />
      )}
    </>
  );
}

/** Metrics that a search offers at a time. */
const OFFERED_MAX = 6;

function OtherMetrics({
  own: { key, also },
  keys,
  onChange,
}: {
  readonly own: ChartOptions;
  readonly keys: readonly string[];
  readonly onChange: (also: readonly string[]) => void;
}) {
  const [search, setSearch] = useState("");
  const match = keyMatch(search);
  const offered =
    search.trim() === "" || also.length >= ALSO_MAX
      ? []
      : keys.filter((one) => one !== key && !also.includes(one) && match.test(one)).slice(0, OFFERED_MAX);
  return (
    <div class="tm-chart-settings-metrics">
      <TextField
        label="More metrics in this chart"
        type="search"
        placeholder="Search metrics"
        value={search}
        disabled={also.length >= ALSO_MAX}
        hint={also.length >= ALSO_MAX ? `A chart has at most ${ALSO_MAX + 1} metrics.` : undefined}
        onInput={setSearch}
      />
      <ul aria-label="Metrics of this chart">
        {also.map((one) => (
          <li key={one}>
            {one}
            <IconButton
              icon="close"
              size="s"
              label={`Remove ${one}`}
              onClick={() => onChange(also.filter((other) => other !== one))}
            />
          </li>
        ))}
        {offered.map((one) => (
          <li key={one}>
            <Button
              kind="quiet"
              size="s"
              icon="plus"
              onClick={() => {
                onChange([...also, one]);
                setSearch("");
              }}
            >
              {`Add ${one}`}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
