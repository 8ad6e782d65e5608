import { useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { ComboField, TextField } from "../../ui/field.tsx";
import type { Dimension, Panel } from "./report-types.ts";
import { columnsOf, columnsText } from "./panels.ts";

/** Columns that new parallel coordinates begin with, in addition to a metric. */
const CONFIGS_USUAL = 4;

/** Chooses scatter plots and parallel coordinates of a block. Panels of other kinds stay as they are. */
export function RunPanelsEditor({
  panels,
  metricKeys,
  configKeys,
  onChange,
}: {
  readonly panels: readonly Panel[];
  readonly metricKeys: readonly string[];
  readonly configKeys: readonly string[];
  readonly onChange: (panels: readonly Panel[]) => void;
}) {
  const set = (at: number, changes: Partial<Panel>): void => onChange(panels.with(at, { ...panels[at]!, ...changes }));
  const add = (panel: Panel): void => onChange([...panels, { ...panel, runset_index: 0 }]);
  const [x, y = x] = metricKeys;
  const count = (type: string, before: number): number =>
    panels.slice(0, before + 1).filter((panel) => panel.type === type).length;
  return (
    <>
      {panels.map((panel, at) => {
        const remove = (label: string) => (
          <IconButton icon="trash" size="s" label={label} onClick={() => onChange(panels.toSpliced(at, 1))} />
        );
        if (panel.type === "scatter") {
          const name = `Scatter plot ${count(panel.type, at)}`;
          return (
            <fieldset key={at} class="tm-run-panel">
              <legend>{name}</legend>
              <ComboField
                label="Horizontal metric"
                value={panel.x_metric ?? ""}
                options={metricKeys}
                onChange={(key) => set(at, { x_metric: key })}
              />
              <ComboField
                label="Vertical metric"
                value={panel.y_metric ?? ""}
                options={metricKeys}
                onChange={(key) => set(at, { y_metric: key })}
              />
              {remove(`Remove ${name}`)}
            </fieldset>
          );
        }
        if (panel.type !== "parallel_coordinates") return null;
        const name = `Parallel coordinates ${count(panel.type, at)}`;
        const dimensions = panel.dimensions ?? [];
        return (
          <fieldset key={at} class="tm-run-panel">
            <legend>{name}</legend>
            <ListField
              label="Columns from left to right"
              hint="Separated by commas: config.lr, metrics.val/loss. The last one colors the runs."
              text={columnsText(dimensions)}
              onInput={(text) => set(at, { dimensions: columnsOf(text, dimensions) })}
            />
            {remove(`Remove ${name}`)}
          </fieldset>
        );
      })}
      <div class="tm-form-row">
        <Button
          size="s"
          icon="plus"
          disabled={x === undefined}
          onClick={() => x !== undefined && y !== undefined && add({ type: "scatter", x_metric: x, y_metric: y })}
        >
          Add scatter plot
        </Button>
        <Button
          size="s"
          icon="plus"
          onClick={() => add({ type: "parallel_coordinates", dimensions: usualColumns(configKeys, x) })}
        >
          Add parallel coordinates
        </Button>
      </div>
    </>
  );
}

function usualColumns(configKeys: readonly string[], metric: string | undefined): readonly Dimension[] {
  const configs = configKeys.slice(0, CONFIGS_USUAL).map((key) => ({ config_key: key }));
  return metric === undefined ? configs : [...configs, { metric_key: metric }];
}

/** A field for a list of names. While a person types, it keeps commas and spaces that the list does not have. */
export function ListField({
  label,
  hint,
  text,
  onInput,
}: {
  readonly label: string;
  readonly hint: string;
  /** The list, as a person edits it. */
  readonly text: string;
  readonly onInput: (text: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  return (
    <TextField
      label={label}
      hint={hint}
      mono
      value={typed ?? text}
      onInput={(next) => {
        setTyped(next);
        onInput(next);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
