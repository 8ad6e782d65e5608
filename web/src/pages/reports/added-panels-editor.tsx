import { useState } from "preact/hooks";
import { emptyPanel, isWhole, PanelFields } from "../../panels/panel-fields.tsx";
import { panelOf, panelTitle, withMembers, type RunsPanel } from "../../panels/panel.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import type { Panel } from "./report-types.ts";

/** Adds and changes bar charts and charts of objects of a block. Panels of other kinds stay as they are. */
export function AddedPanelsEditor({
  projectId,
  panels,
  onChange,
}: {
  readonly projectId: string | undefined;
  readonly panels: readonly Panel[];
  readonly onChange: (panels: readonly Panel[]) => void;
}) {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {panels.map((stored, at) => {
        const panel = panelOf({ ...stored });
        if (panel === undefined) return null;
        const title = panelTitle(panel);
        return (
          <PanelDraft
            key={at}
            title={title}
            projectId={projectId}
            panel={panel}
            endLabel={`Remove ${title}`}
            onEnd={() => onChange(panels.toSpliced(at, 1))}
            onChange={(next) => onChange(panels.with(at, withMembers(stored, next)))}
          />
        );
      })}
      {isAdding ? (
        <PanelDraft
          title="New chart"
          projectId={projectId}
          panel={emptyPanel("bar")}
          endLabel="Add no chart"
          onEnd={() => setAdding(false)}
          onChange={(next) => {
            setAdding(false);
            onChange([...panels, withMembers({ type: next.type }, next)]);
          }}
        />
      ) : (
        <Button size="s" icon="plus" onClick={() => setAdding(true)}>
          Add bar chart, histograms or curves
        </Button>
      )}
    </>
  );
}

/** A chart that changes. The API takes charts that show something, so that one whose key is not chosen yet stays here. */
function PanelDraft({
  title,
  projectId,
  panel,
  endLabel,
  onEnd,
  onChange,
}: {
  readonly title: string;
  readonly projectId: string | undefined;
  readonly panel: RunsPanel;
  readonly endLabel: string;
  readonly onEnd: () => void;
  readonly onChange: (panel: RunsPanel) => void;
}) {
  const [draft, setDraft] = useState<RunsPanel | undefined>(undefined);
  return (
    <fieldset class="tm-run-panel">
      <legend>{title}</legend>
      <PanelFields
        projectId={projectId}
        panel={draft ?? panel}
        onChange={(next) => {
          setDraft(isWhole(next) ? undefined : next);
          if (isWhole(next)) onChange(next);
        }}
      />
      <IconButton icon={isWhole(panel) ? "trash" : "close"} size="s" label={endLabel} onClick={onEnd} />
    </fieldset>
  );
}
