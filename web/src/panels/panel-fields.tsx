import { useId, useState } from "preact/hooks";
import { useQuery } from "../api/use-answer.ts";
import { useCatalogue } from "../charts/keys/use-catalogue.ts";
import { pictureOfTable } from "../media/table-picture.ts";
import type { RichObject } from "../media/steps.ts";
import { Select, TextField } from "../ui/field.tsx";
import { BAR_FIGURES, PANEL_TYPES, type RunsPanel } from "./panel.ts";

const NO_RUNS: readonly string[] = [];

/** Keys that a list offers. */
const OFFERED_MAX = 300;

/** The fields of a chart: its kind and what it shows. An empty key is not chosen yet. */
export function PanelFields({
  projectId,
  panel,
  isEager = false,
  onChange,
}: {
  readonly projectId: string | undefined;
  readonly panel: RunsPanel;
  /** Each letter of a key counts; else a key counts when its field is left. */
  readonly isEager?: boolean;
  readonly onChange: (panel: RunsPanel) => void;
}) {
  const isBar = panel.type === "bar";
  const isKnown = projectId !== undefined;
  const metrics = useCatalogue(projectId ?? "", "metric", NO_RUNS, isKnown && isBar, 0);
  const configs = useCatalogue(projectId ?? "", "config", NO_RUNS, isKnown && isBar, 0);
  const objectKeys = useObjectKeys(projectId, panel.type);
  const source = isBar ? ("metric_key" in panel ? "metric" : "config") : undefined;
  return (
    <>
      <Select
        label="Kind"
        value={panel.type}
        options={PANEL_TYPES}
        onChange={(type) => onChange(emptyPanel(type, panel))}
      />
      {panel.type === "bar" && (
        <>
          <Select
            label="Bars of"
            value={source!}
            options={[
              { value: "metric", label: "Metric" },
              { value: "config", label: "Config" },
            ]}
            onChange={(of) =>
              onChange(of === "metric" ? { type: "bar", metric_key: "" } : { type: "bar", config_key: "" })
            }
          />
          {"metric_key" in panel ? (
            <>
              <KeyField
                isEager={isEager}
                label="Metric"
                value={panel.metric_key}
                options={(metrics.names ?? []).slice(0, OFFERED_MAX)}
                onChange={(key) => onChange({ ...panel, metric_key: key })}
              />
              <Select
                label="Value"
                value={panel.agg ?? BAR_FIGURES[0]}
                options={BAR_FIGURES.map((value) => ({ value, label: value }))}
                onChange={(agg) => {
                  const { agg: _before, ...others } = panel;
                  onChange(agg === BAR_FIGURES[0] ? others : { ...others, agg });
                }}
              />
            </>
          ) : (
            <KeyField
              isEager={isEager}
              label="Key of the config"
              value={panel.config_key}
              options={(configs.names ?? []).slice(0, OFFERED_MAX)}
              onChange={(key) => onChange({ ...panel, config_key: key })}
            />
          )}
        </>
      )}
      {panel.type !== "bar" && (
        <KeyField
          isEager={isEager}
          label="Key of the object"
          hint={HINTS[panel.type]}
          value={panel.object_key}
          options={objectKeys}
          onChange={(key) => onChange({ ...panel, object_key: key })}
        />
      )}
      {panel.type === "histogram" && (
        <Select
          label="Drawn as"
          value={panel.view ?? "ridges"}
          options={[
            { value: "ridges", label: "Ridges" },
            { value: "heat", label: "Heat map" },
          ]}
          onChange={(view) =>
            onChange({ type: panel.type, object_key: panel.object_key, ...(view === "heat" ? { view } : {}) })
          }
        />
      )}
    </>
  );
}

/** A field for one of many keys, or any other. What is typed stays while the page is drawn again. */
function KeyField({
  value,
  options,
  isEager,
  onChange,
  ...field
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly isEager: boolean;
  readonly onChange: (key: string) => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const leave = (): void => {
    if (!isEager && typed !== undefined && typed.trim() !== "") onChange(typed.trim());
    setTyped(undefined);
  };
  return (
    <>
      <TextField
        {...field}
        mono
        value={typed ?? value}
        list={id}
        onInput={isEager ? onChange : setTyped}
        onBlur={leave}
      />
      <datalist id={id}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </>
  );
}

const HINTS = {
  histogram: "Under which runs log histograms.",
  roc_curve: "Of an evaluation, or of a table with the columns fpr and tpr.",
  pr_curve: "Of an evaluation, or of a table with the columns recall and precision.",
  confusion_matrix: "Of an evaluation, or of a table with the columns Actual, Predicted and nPredictions.",
} as const;

/** Returns a panel of a kind; what it shows stays where both kinds show objects. */
export function emptyPanel(type: RunsPanel["type"], before?: RunsPanel): RunsPanel {
  if (type === "bar") return { type, metric_key: "" };
  return { type, object_key: before === undefined || before.type === "bar" ? "" : before.object_key };
}

/** Whether a panel has all that it needs. */
export const isWhole = (panel: RunsPanel): boolean =>
  ("metric_key" in panel ? panel.metric_key : "config_key" in panel ? panel.config_key : panel.object_key).trim() !==
  "";

type Explored = {
  readonly objects: readonly Pick<RichObject, "key" | "kind" | "summary">[];
};

const CURVES = { roc_curve: "roc", pr_curve: "pr", confusion_matrix: "confusion" } as const;

/** Reads the keys of the objects of a project that a kind of charts can show, of the last steps. */
function useObjectKeys(projectId: string | undefined, type: RunsPanel["type"]): readonly string[] {
  const path = (kind: RichObject["kind"]): string | undefined =>
    projectId === undefined || type === "bar"
      ? undefined
      : `/api/objects/explorer?${new URLSearchParams({ project_id: projectId, kind, limit: "100" })}`;
  const own = useQuery<Explored>(path(type === "histogram" ? "histogram" : "classification_eval"));
  const tables = useQuery<Explored>(type === "histogram" ? undefined : path("table"));
  const wanted = type === "bar" || type === "histogram" ? undefined : CURVES[type];
  const drawn = (tables.data?.objects ?? []).filter((object) => pictureOfTable(object) === wanted);
  return [...new Set([...(own.data?.objects ?? []), ...drawn].map(({ key }) => key))].toSorted();
}
