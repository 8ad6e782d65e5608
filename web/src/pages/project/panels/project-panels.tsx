import { useMemo, useState } from "preact/hooks";
import { runAddress } from "../../../app/addresses.ts";
import { currentLocation, navigate, setQuery } from "../../../app/location.tsx";
import type { ChartRun } from "../../../charts/index.ts";
import { movedTo } from "../../../charts/keys/order.ts";
import { useCatalogue } from "../../../charts/keys/use-catalogue.ts";
import { lineInk, useVisibleLines } from "../../../charts/look/run-look.ts";
import type { GroupBy } from "../../../charts/state/chart-state.ts";
import { pageInks } from "../../../charts/view/canvas-stage.ts";
import { usePaced } from "../../../api/use-changes.ts";
import { barColumn, panelsOfText, PANELS_MAX, panelsText, panelTitle, type RunsPanel } from "../../../panels/panel.ts";
import { PanelView } from "../../../panels/lazy-pictures.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { isLookedUp } from "../table/columns.ts";
import { groupColumns } from "../groups/run-groups.ts";
import { useRunColumns, useRunsById } from "../runs/use-runs.ts";
import { barsOfGroups, barsOfRuns } from "./panel-bars.ts";
import { PanelDialog } from "./panel-dialog.tsx";

/** What the charts are about. */
type Shown = {
  readonly project: { readonly id: string; readonly name: string };
  /** Undefined while they are read. */
  readonly runs: readonly ChartRun[] | undefined;
  /** The search of the table, and the columns by which its runs are grouped. */
  readonly q: string;
  readonly group: GroupBy | undefined;
  /** Grows when runs change. */
  readonly version: number;
  readonly highlight: string | undefined;
  readonly onHighlight: (id: string | undefined) => void;
};

/** Objects and values are read again at most this often. */
const AGAIN_MS = 5000;

const NO_RUNS: readonly ChartRun[] = [];
const NO_IDS: readonly string[] = [];

const panelsNow = (): readonly RunsPanel[] => panelsOfText(currentLocation.peek().query.get("panels") ?? "");

/** The charts that people add to a project, as the address says, and the dialog that adds one. */
export function ProjectPanels({
  isAdding,
  onAdded,
  ...shown
}: Shown & { readonly isAdding: boolean; readonly onAdded: () => void }) {
  const text = currentLocation.value.query.get("panels") ?? "";
  const panels = useMemo(() => panelsOfText(text), [text]);
  const [changed, setChanged] = useState<number | undefined>(undefined);
  const set = (next: readonly RunsPanel[]): void => setQuery({ panels: panelsText(next) }, { replace: true });
  const move = (at: number, to: number): void => {
    const order = movedTo(
      panelsNow().map((_, i) => String(i)),
      String(at),
      to,
    );
    set(order.map((i) => panelsNow()[Number(i)]!));
  };
  return (
    <>
      {panels.length > 0 && (
        <section class="tm-panels" aria-label="Added charts">
          <h2 class="tm-hidden">Added charts</h2>
          {panels.map((panel, i) => (
            <article key={`${i} ${panelsText([panel])}`} class="tm-chart-card" aria-label={panelTitle(panel)}>
              <header>
                <h3>{panelTitle(panel)}</h3>
                <Menu
                  label={`More for ${panelTitle(panel)}`}
                  align="end"
                  button={{ icon: "more", kind: "quiet", size: "s" }}
                  items={[
                    { label: "Settings…", icon: "settings", onSelect: () => setChanged(i) },
                    { label: "Move earlier", icon: "arrow-up", disabled: i === 0, onSelect: () => move(i, i - 1) },
                    {
                      label: "Move later",
                      icon: "arrow-down",
                      disabled: i === panels.length - 1,
                      onSelect: () => move(i, i + 1),
                    },
                    { label: "Remove", icon: "trash", danger: true, onSelect: () => set(panelsNow().toSpliced(i, 1)) },
                  ]}
                />
              </header>
              <ProjectPanel panel={panel} {...shown} />
            </article>
          ))}
        </section>
      )}
      {isAdding && (
        <PanelDialog
          title="Add a chart"
          projectId={shown.project.id}
          isFull={panels.length >= PANELS_MAX}
          onSave={(panel) => set([...panelsNow(), panel])}
          onClose={onAdded}
        />
      )}
      {changed !== undefined && panels[changed] !== undefined && (
        <PanelDialog
          title={`Settings of ${panelTitle(panels[changed])}`}
          projectId={shown.project.id}
          panel={panels[changed]}
          onSave={(panel) => set(panelsNow().with(changed, panel))}
          onClose={() => setChanged(undefined)}
        />
      )}
    </>
  );
}

function ProjectPanel({ panel, ...shown }: Shown & { readonly panel: RunsPanel }) {
  if (panel.type === "bar" && shown.group !== undefined)
    return <GroupBars panel={panel} {...shown} group={shown.group} />;
  if (panel.type === "bar") return <RunBars panel={panel} {...shown} />;
  return <ObjectsOfRuns panel={panel} {...shown} />;
}

function ObjectsOfRuns({ panel, project, runs = NO_RUNS, version }: Shown & { readonly panel: RunsPanel }) {
  const paced = usePaced(version, AGAIN_MS);
  return <PanelView panel={panel} projectId={project.id} runs={runs} bars={undefined} version={paced} />;
}

type BarProps = Shown & { readonly panel: Extract<RunsPanel, { type: "bar" }> };

/** A bar for each run whose lines are shown, in the order of the table. */
function RunBars({ panel, project, runs, version, highlight, onHighlight }: BarProps) {
  const column = barColumn(panel);
  const ids = runs?.map(({ id }) => id) ?? NO_IDS;
  const request = { projectId: project.id, q: "", sortBy: "created", dir: "desc", columns: [column] } as const;
  const found = useRunsById(ids, request, usePaced(version, AGAIN_MS));
  const { theme } = pageInks.value;
  const looks = ids.map((id) => lineInk(id, theme)).join();
  const bars = useMemo(
    () =>
      runs === undefined || (found.size === 0 && ids.length > 0)
        ? undefined
        : barsOfRuns(
            ids.flatMap((id) => found.get(id) ?? []),
            column,
            (id) => lineInk(id, theme),
          ),
    [found, ids.join(), column, looks],
  );
  return (
    <PanelView
      panel={panel}
      projectId={project.id}
      runs={runs ?? NO_RUNS}
      bars={bars}
      highlight={highlight}
      onHighlight={onHighlight}
      onOpen={(id) => navigate(runAddress(project.name, id))}
    />
  );
}

/** A bar for each group of the runs that the search finds, without those that are hidden. */
function GroupBars({ panel, project, runs = NO_RUNS, q, group, version }: BarProps & { readonly group: GroupBy }) {
  const column = barColumn(panel);
  const configs = useCatalogue(project.id, "config", NO_IDS, group.allBut, 0);
  const isReady = !group.allBut || configs.names !== undefined;
  const by = isReady ? groupColumns(group, configs.names ?? [], [column]) : [];
  const columns = [...new Set([...by.filter(isLookedUp), column])];
  const { runs: found, error, retry } = useRunColumns(project.id, q, columns, version, isReady);
  const { theme } = pageInks.value;
  const visible = runs.map(({ id }) => id).join();
  const grouped = useMemo(() => {
    const ids = new Set(visible.split(","));
    return (
      found &&
      barsOfGroups(
        found.filter(({ id }) => ids.has(id)),
        by,
        column,
        () => "",
      )
    );
  }, [found, visible, by.join("\n"), column]);
  const groupIds = grouped?.map(({ id }) => id) ?? NO_IDS;
  useVisibleLines(project.id, groupIds);
  const bars = useMemo(
    () => grouped?.map((bar) => ({ ...bar, color: lineInk(bar.id, theme) })),
    [grouped, theme, groupIds.map((id) => lineInk(id, theme)).join()],
  );
  if (error !== undefined) return <ErrorNote error={error} onRetry={retry} />;
  return <PanelView panel={panel} projectId={project.id} runs={runs} bars={bars} what="group" />;
}
