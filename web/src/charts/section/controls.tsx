import { Button } from "../../ui/button.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { Select, TextField, type Option } from "../../ui/field.tsx";
import { KeyBrowser } from "../keys/key-browser.tsx";
import type { KeyMatch } from "../keys/sections.ts";
import type { Smoothing, XAxis } from "../series/series.ts";
import { smoothingStops } from "../state/chart-state.ts";
import type { ChartContext } from "./chart-context.ts";

const AXES: readonly Option<string>[] = [
  { value: "step", label: "Step" },
  { value: "relative", label: "Relative time" },
  { value: "time", label: "Wall time" },
];

/** The kinds of smoothing, and none. */
export const KINDS: readonly Option<Smoothing["kind"] | "none">[] = [
  { value: "none", label: "No smoothing" },
  { value: "ema", label: "Exponential" },
  { value: "gaussian", label: "Gaussian" },
  { value: "mean", label: "Running mean" },
];

type ControlsProps = {
  readonly context: Pick<ChartContext, "state" | "change" | "given">;
  readonly metricKeys: readonly string[];
  readonly configKeys: readonly string[];
};

/** Which metrics charts show, and the choices that apply to all of them together. */
export function Controls({ match, ...props }: ControlsProps & { readonly match: KeyMatch }) {
  const { context, metricKeys } = props;
  const { state, change } = context;
  return (
    <div class="tm-chart-controls" role="group" aria-label="Charts">
      <TextField
        label="Search metrics"
        hideLabel
        type="search"
        placeholder="Search metrics, or re:/…/"
        value={state.search}
        error={match.fault}
        onInput={(text) => change({ search: text }, { replace: true })}
      />
      <KeyBrowser context={context} keys={metricKeys} />
      <AxisControls {...props} />
    </div>
  );
}

/** The choices for the axes and lines of charts; where their series are given, those that read nothing. */
export function AxisControls({ context, metricKeys, configKeys }: ControlsProps) {
  const { state, change } = context;
  const isRead = context.given === undefined;
  const { x, xLog, yLog, ignoreOutliers, band, group, lineage, patterns, zoom } = state;
  const forkItem: MenuItem = {
    label: "Show the parent's part of forks",
    checked: lineage,
    disabled: group !== undefined,
    onSelect: () => change({ lineage: !lineage }),
  };
  return (
    <>
      {isRead && (
        <>
          <Select
            label="Horizontal axis"
            hideLabel
            value={x}
            options={axisOptions(x, metricKeys)}
            onChange={(value) => change({ x: value as XAxis, zoom: undefined })}
          />
          <SmoothingControl context={context} />
          <GroupControl context={context} configKeys={configKeys} />
        </>
      )}
      <Menu
        label="Axes"
        button={{ kind: "plain", size: "s", icon: "settings" }}
        items={[
          { label: "Logarithmic y axis", checked: yLog, onSelect: () => change({ yLog: !yLog }) },
          { label: "Logarithmic x axis", checked: xLog, onSelect: () => change({ xLog: !xLog, zoom: undefined }) },
          {
            label: "Ignore outliers",
            checked: ignoreOutliers,
            onSelect: () => change({ ignoreOutliers: !ignoreOutliers }),
          },
          { label: "Patterns on lines", checked: patterns, onSelect: () => change({ patterns: !patterns }) },
          "line",
          { label: "Band: standard deviation", checked: band === "std", onSelect: () => change({ band: "std" }) },
          {
            label: "Band: lowest to highest run",
            checked: band === "range",
            onSelect: () => change({ band: "range" }),
          },
          { label: "No bands", checked: band === "none", onSelect: () => change({ band: "none" }) },
          ...(isRead ? (["line", forkItem] as const) : []),
        ]}
      >
        Axes
      </Menu>
      {zoom !== undefined && (
        <Button size="s" icon="reset" title="0" onClick={() => change({ zoom: undefined })}>
          Reset zoom
        </Button>
      )}
    </>
  );
}

/** More keys than this are too many to choose from. */
const AXIS_KEYS_MAX = 200;

/** Returns the axes to choose from: the current one is always among them. */
export function axisOptions(current: XAxis, metricKeys: readonly string[]): readonly Option<string>[] {
  const other = current.startsWith("metric:") ? [current.slice("metric:".length)] : [];
  const keys = new Set([...other, ...metricKeys.slice(0, AXIS_KEYS_MAX)]);
  return [...AXES, ...[...keys].map((key) => ({ value: `metric:${key}`, label: key }))];
}

function SmoothingControl({
  context: { state, change },
}: {
  readonly context: Pick<ChartContext, "state" | "change">;
}) {
  const { smoothing } = state;
  const stops = smoothing === undefined ? [] : smoothingStops(smoothing.kind);
  const at = smoothing === undefined ? 0 : stops.findLastIndex((stop) => stop <= smoothing.parameter) + 1;
  return (
    <div class="tm-chart-smooth">
      <Select
        label="Smoothing"
        hideLabel
        value={smoothing?.kind ?? "none"}
        options={KINDS}
        onChange={(kind) =>
          change({ smoothing: kind === "none" ? undefined : { kind, parameter: smoothingStops(kind)[4]! } })
        }
      />
      {smoothing !== undefined && (
        <label>
          <input
            type="range"
            min={1}
            max={stops.length}
            value={Math.max(1, at)}
            aria-label="Amount of smoothing"
            aria-valuetext={String(smoothing.parameter)}
            onInput={(event) =>
              change(
                { smoothing: { kind: smoothing.kind, parameter: stops[Number(event.currentTarget.value) - 1]! } },
                { replace: true },
              )
            }
          />
          <output>{smoothing.parameter}</output>
        </label>
      )}
    </div>
  );
}

function GroupControl({
  context: { state, change },
  configKeys,
}: {
  readonly context: Pick<ChartContext, "state" | "change">;
  readonly configKeys: readonly string[];
}) {
  const { group } = state;
  const names = group?.names ?? [];
  const toggled = (name: string): readonly string[] =>
    names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
  const set = (next: readonly string[], allBut: boolean): void =>
    change({ group: next.length === 0 ? undefined : { names: next, allBut }, zoom: undefined });
  const label =
    group === undefined
      ? "Group"
      : `${group.allBut ? "By all but" : "By"} ${names.map((name) => name.replace(/^config\./, "")).join(", ")}`;
  const keys = [
    ...new Set([
      ...names.filter((name) => name !== "tags"),
      ...configKeys.slice(0, GROUP_KEYS_SHOWN).map((key) => `config.${key}`),
    ]),
  ];
  return (
    <Menu
      label="Group runs"
      button={{ kind: "plain", size: "s", icon: "group" }}
      items={[
        { label: "No groups", disabled: group === undefined, onSelect: () => set([], false) },
        {
          label: "By all but the chosen",
          checked: group?.allBut === true,
          disabled: group === undefined || names.includes("tags"),
          onSelect: () => set(names, group?.allBut !== true),
        },
        "line",
        {
          label: "Tags",
          checked: names.includes("tags"),
          disabled: group?.allBut === true,
          onSelect: () => set(toggled("tags"), false),
        },
        ...keys.map((name) => ({
          label: name.replace(/^config\./, ""),
          checked: names.includes(name),
          onSelect: () => set(toggled(name), group?.allBut === true),
        })),
      ]}
    >
      {label}
    </Menu>
  );
}

const GROUP_KEYS_SHOWN = 60;
