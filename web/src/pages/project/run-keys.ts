import type { RefObject } from "preact";
import { mayControl, mayWrite } from "../../api/session.ts";
import { compareAddress, runAddress } from "../../app/addresses.ts";
import { useKeys, type PageAction } from "../../app/keys.ts";
import { navigate } from "../../app/location.tsx";
import type { GridHandle } from "../../table/grid-types.ts";
import { counted } from "../../ui/words.ts";
import type { BulkAction, BulkRun } from "./bulk/bulk.ts";
import { mayTransfer } from "./bulk/transfer-calls.ts";
import { PINS_MAX, toggled, withShown, type TableRun } from "./runs/shown-runs.ts";
import type { ProjectRuns } from "./runs/use-project-runs.ts";
import type { View } from "./view/use-view.ts";

/** The page that the keys work on. */
type KeyedPage = {
  readonly project: string;
  readonly view: View;
  readonly runs: ProjectRuns;
  readonly grid: RefObject<GridHandle | undefined>;
  /** Opens the dialog in which runs get another color. */
  readonly onLook: (runs: readonly BulkRun[]) => void;
  /** Opens the dialog of an action on the selected runs. */
  readonly onAction: (kind: BulkAction["kind"]) => void;
  /** Opens the dialog in which columns are chosen. */
  readonly onColumns: () => void;
};

/** The keys of the page of a project, which act on the current row of its table, and its actions in the palette. */
export function useRunKeys(page: KeyedPage): void {
  const { project, view, runs, grid, onLook, onAction } = page;
  const { state, change } = view;
  const currentRow = (): number => Math.max(0, grid.current?.current() ?? 0);
  const onCurrent = (act: (run: TableRun) => void) => (): void => {
    const run = runs.rowAt(currentRow());
    if (run !== undefined) act(run);
  };
  const move = (by: number) => (): void => grid.current?.goTo((grid.current.current() ?? 0) + by);
  const stop = (): void => {
    if (runs.selected.size === 0) runs.select(currentRow(), "toggle");
    onAction("stop");
  };
  useKeys(
    {
      j: { label: "Next run", run: move(1) },
      k: { label: "Previous run", run: move(-1) },
      x: { label: "Show or hide its lines", run: onCurrent(runs.toggleShown) },
      "Shift+x": { label: "Select up to here", run: () => runs.select(currentRow(), "range") },
      c: { label: "Change color", run: onCurrent((run) => onLook([run])) },
      p: { label: "Pin", run: onCurrent((run) => change({ pin: toggled(state.pin, run.id).slice(-PINS_MAX) })) },
      b: {
        label: "Set as baseline",
        run: onCurrent((run) => change({ base: state.base === run.id ? undefined : run.id })),
      },
      Enter: { label: "Open the run", run: onCurrent((run) => navigate(runAddress(project, run.id))) },
      g: {
        label: "Group the charts",
        run: () => document.querySelector<HTMLElement>(".tm-chart-controls button[aria-haspopup]")?.click(),
      },
      "/": { label: "Search runs", run: () => document.querySelector<HTMLElement>(".tm-query-input")?.focus() },
      ...(mayControl() ? { s: { label: "Stop the selected runs", run: stop } } : {}),
    },
    { label: "Runs", actions: actionsOf(page) },
  );
}

function actionsOf({ project, view: { state, change }, runs, onLook, onAction, onColumns }: KeyedPage): PageAction[] {
  const focusOn = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();
  const others: PageAction[] = [
    { label: "Choose columns…", icon: "columns", run: onColumns },
    { label: "Search runs", icon: "search", run: () => requestAnimationFrame(() => focusOn(".tm-query-input")) },
    {
      label: state.charts === "steps" ? "Show parameters" : "Show metrics",
      icon: "chart",
      run: () => change({ charts: state.charts === "steps" ? "columns" : "steps", tab: "charts" }),
    },
  ];
  if (runs.isAll || runs.selectedRuns.length === 0) return others;
  const ids = runs.selectedRuns.map(({ id }) => id);
  const these = counted(ids.length, "selected run");
  return [
    ...(ids.length > 1
      ? [
          {
            label: `Compare ${these}`,
            icon: "compare" as const,
            run: () => navigate(`${compareAddress(project)}?sel=${ids.join(",")}`),
          },
        ]
      : []),
    ...(mayWrite() ? [{ label: `Add tag to ${these}…`, icon: "tag" as const, run: () => onAction("add-tag") }] : []),
    ...(mayTransfer()
      ? [
          { label: `Move ${these} to project…`, icon: "move" as const, run: () => onAction("move") },
          { label: `Copy ${these} to project…`, icon: "copy" as const, run: () => onAction("copy") },
        ]
      : []),
    ...(mayControl() ? [{ label: `Stop ${these}…`, icon: "stop" as const, run: () => onAction("stop") }] : []),
    {
      label: `Hide ${these}`,
      icon: "eye-off",
      run: () => change(withShown(state, ids, false), { replace: true }),
    },
    { label: `Change color of ${these}…`, icon: "edit", run: () => onLook(runs.selectedRuns) },
    { label: "Clear selection", icon: "close", run: runs.clear },
    ...others,
  ];
}
