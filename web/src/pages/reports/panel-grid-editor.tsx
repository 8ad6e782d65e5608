import { useState } from "preact/hooks";
import type { ListedProject } from "../../api/project-id.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, TextField } from "../../ui/field.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { ListField, RunPanelsEditor } from "./run-panels-editor.tsx";
import { AddedPanelsEditor } from "./added-panels-editor.tsx";
import { PanelGrid } from "./panel-grid.tsx";
import { chartKeys, runIdsOf, tableFields, type Grid } from "./panels.ts";
import type { Block } from "./report-types.ts";

type Run = { readonly id: string; readonly name: string };

/** Chooses the runs, metrics and columns of a block of charts. */
export function PanelGridEditor({
  block,
  project,
  onChange,
}: {
  readonly block: Grid;
  readonly project: ListedProject | undefined;
  readonly onChange: (block: Block) => void;
}) {
  const [isOpen, setOpen] = useState(block.panels.length === 0);
  const [find, setFind] = useState("");
  const [findKey, setFindKey] = useState("");
  const parameters = new URLSearchParams({
    project_id: project?.id ?? "",
    limit: "30",
    projection: "selection",
    ...(find === "" ? {} : { q: find }),
  });
  const runs = useQuery<{ runs: Run[] }>(
    project === undefined || !isOpen ? undefined : `/api/runs/summary?${parameters.toString()}`,
  );
  const keyWish = new URLSearchParams({ kind: "metric", limit: "40", ...(findKey === "" ? {} : { q: findKey }) });
  const keys = useQuery<{ keys: { name: string }[] }>(
    project === undefined || !isOpen ? undefined : `/api/projects/${project.id}/keys?${keyWish.toString()}`,
  );
  const configs = useQuery<{ keys: { name: string }[] }>(
    project === undefined || !isOpen ? undefined : `/api/projects/${project.id}/keys?kind=config&limit=40`,
  );
  const chosen = runIdsOf(block);
  const drawn = chartKeys(block);
  const fields = tableFields(block);
  const metricKeys = [...new Set([...drawn, ...(keys.data?.keys ?? []).map(({ name }) => name)])];

  const set = (runIds: readonly string[], metrics: readonly string[], columns: readonly string[] | undefined): void => {
    const own = new Set(["line", "scalar", "run_comparer"]);
    const [runset = { name: "Runs", projects: project === undefined ? [] : [project.name] }] = block.runsets;
    const others = block.panels.filter((panel) => !own.has(panel.type));
    const lines = metrics.map(
      (key) =>
        block.panels.find((panel) => panel.type === "line" && panel.metric_key === key) ?? {
          type: "line",
          metric_key: key,
          runset_index: 0,
        },
    );
    const table =
      columns === undefined ? [] : [{ type: "run_comparer", run_ids: runIds, fields: columns, runset_index: 0 }];
    onChange({ ...block, runsets: [{ ...runset, pinned_run_ids: runIds }], panels: [...lines, ...table, ...others] });
  };
  const toggled = (list: readonly string[], one: string, on: boolean): readonly string[] =>
    on ? [...list, one] : list.filter((other) => other !== one);
  return (
    <>
      <Button
        size="s"
        kind="quiet"
        icon={isOpen ? "chevron-down" : "chevron-right"}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {`Choose runs and metrics (${chosen.length === 0 ? "newest runs" : `${chosen.length} chosen`}, ${drawn.length} charts)`}
      </Button>
      {isOpen && (
        <div class="tm-two">
          <fieldset class="tm-run-choices">
            <legend>Runs (the newest if you choose none)</legend>
            <TextField
              label="Find runs"
              hideLabel
              type="search"
              placeholder="Find runs"
              value={find}
              onInput={setFind}
            />
            <ErrorNote error={runs.error} />
            {(runs.data?.runs ?? []).map((run) => (
              <Checkbox
                key={run.id}
                label={run.name}
                checked={chosen.includes(run.id)}
                onChange={(on) => set(toggled(chosen, run.id, on), drawn, fields)}
              />
            ))}
          </fieldset>
          <fieldset class="tm-run-choices">
            <legend>Metrics</legend>
            <TextField
              label="Find metrics"
              hideLabel
              type="search"
              placeholder="Find metrics"
              value={findKey}
              onInput={setFindKey}
            />
            <ErrorNote error={keys.error} />
            {metricKeys.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={drawn.includes(name)}
                onChange={(on) => set(chosen, toggled(drawn, name, on), fields)}
              />
            ))}
          </fieldset>
          <Checkbox
            label="Show a table of the runs"
            checked={fields !== undefined}
            onChange={(on) => set(chosen, drawn, on ? drawn.map((key) => `metrics.${key}.best`) : undefined)}
          />
          {fields !== undefined && (
            <ListField
              label="Columns"
              hint="Separated by commas: config.lr, metrics.val/loss.best, tags"
              text={fields.join(", ")}
              onInput={(text) => set(chosen, drawn, fieldsOf(text))}
            />
          )}
          <RunPanelsEditor
            panels={block.panels}
            metricKeys={metricKeys}
            configKeys={(configs.data?.keys ?? []).map(({ name }) => name)}
            onChange={(panels) => onChange({ ...block, panels })}
          />
          <AddedPanelsEditor
            projectId={project?.id}
            panels={block.panels}
            onChange={(panels) => onChange({ ...block, panels })}
          />
        </div>
      )}
      {block.panels.length > 0 && (
        <TextField label="Caption" value={block.caption ?? ""} onInput={(caption) => onChange({ ...block, caption })} />
      )}
      {block.panels.length > 0 && <PanelGrid block={block} data={{ from: "reader" }} />}
    </>
  );
}

/** Reads a list of names that are apart by commas. */
function fieldsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((field) => field.trim())
    .filter((field) => field !== "");
}
