import { Menu } from "../../../ui/menu.tsx";
import { Select } from "../../../ui/field.tsx";
import { columnLabel, columnName, columnSource, FIGURES, type Figure } from "../table/columns.ts";
import { AXES_MAX, type ColumnChoice } from "./choice.ts";

/** More keys than this are too many to choose from. */
const KEYS_SHOWN = 200;

const NONE = "";

/** The controls for the charts of columns. */
export function ColumnControls({
  choice,
  of,
  by,
  axes,
  metricKeys,
  configKeys,
  onChange,
}: {
  readonly choice: ColumnChoice;
  readonly of: string;
  readonly by: string | undefined;
  readonly axes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly configKeys: readonly string[];
  readonly onChange: (changes: Partial<ColumnChoice>) => void;
}) {
  const source = columnSource(of);
  const metric = source?.kind === "metric" ? source : { key: of, figure: "best" as Figure };
  const setOf = (key: string, figure: Figure): void => onChange({ of: columnName({ kind: "metric", key, figure }) });
  const configs = configKeys.slice(0, KEYS_SHOWN).map((key) => `config.${key}`);
  const options = (chosen: string | undefined): { value: string; label: string }[] =>
    [...new Set([...(chosen === undefined ? [] : [chosen]), ...configs])].map((value) => ({
      value,
      label: columnLabel(value),
    }));
  const toggled = (name: string): readonly string[] =>
    axes.includes(name) ? axes.filter((one) => one !== name) : [...axes, name].slice(-AXES_MAX);
  return (
    <div class="tm-chart-controls" role="group" aria-label="Charts by columns">
      <Select
        label="Metric"
        value={metric.key}
        options={[...new Set([metric.key, ...metricKeys.slice(0, KEYS_SHOWN)])].map((key) => ({
          value: key,
          label: key,
        }))}
        onChange={(key) => setOf(key, metric.figure)}
      />
      <Select
        label="Value"
        value={metric.figure}
        options={FIGURES.map((figure) => ({ value: figure, label: figure }))}
        onChange={(figure) => setOf(metric.key, figure)}
      />
      <Select label="Parameter" value={by ?? NONE} options={options(by)} onChange={(name) => onChange({ by: name })} />
      <Select
        label="Color"
        value={choice.tint ?? NONE}
        options={[{ value: NONE, label: "Run color" }, ...options(choice.tint)]}
        onChange={(name) => onChange({ tint: name === NONE ? undefined : name })}
      />
      <Menu
        label="Axes"
        button={{ kind: "plain", size: "s", icon: "settings" }}
        items={[
          { label: "Log scale: metric", checked: choice.ofLog, onSelect: () => onChange({ ofLog: !choice.ofLog }) },
          { label: "Log scale: parameter", checked: choice.byLog, onSelect: () => onChange({ byLog: !choice.byLog }) },
          "line",
          {
            label: "Choose axes by importance",
            disabled: choice.axes.length === 0,
            onSelect: () => onChange({ axes: [] }),
          },
          ...options(undefined).map(({ value, label }) => ({
            label,
            checked: axes.includes(value),
            onSelect: () => onChange({ axes: toggled(value) }),
          })),
        ]}
      >
        Axes
      </Menu>
    </div>
  );
}
