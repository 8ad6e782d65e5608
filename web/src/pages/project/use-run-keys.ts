import type { RefObject } from "preact";
import { mayControl } from "../../api/session.ts";
import { runAddress } from "../../app/addresses.ts";
import { useKeys } from "../../app/keys.ts";
import { navigate } from "../../app/location.tsx";
import type { GridHandle } from "../../table/grid-types.ts";
import { query } from "../../api/queries.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { PINS_MAX, toggled, type TableRun } from "./runs/shown-runs.ts";
import type { ProjectRuns } from "./runs/use-project-runs.ts";
import type { View } from "./view/use-view.ts";

/** The page that the keys work on. */
type KeyedPage = {
  readonly project: string;
  readonly view: View;
  readonly runs: ProjectRuns;
  readonly grid: RefObject<GridHandle | undefined>;
  /** Opens the dialog in which a run gets another color. */
  readonly onLook: (run: TableRun) => void;
  /** Opens the dialog that stops the selected runs. */
  readonly onStop: () => void;
};

/** The keys of the page of a project, which act on the current row of its table. */
export function useRunKeys({ project, view, runs, grid, onLook, onStop }: KeyedPage): void {
  const { state, change } = view;
  const currentRow = (): number => Math.max(0, grid.current?.current() ?? 0);
  const onCurrent = (act: (run: TableRun) => void) => (): void => {
    const run = runs.rowAt(currentRow());
    if (run !== undefined) act(run);
  };
  const move = (by: number) => (): void => grid.current?.goTo((grid.current.current() ?? 0) + by);
  const stop = (): void => {
    if (runs.selected.size === 0) runs.select(currentRow(), "toggle");
    onStop();
  };
  useKeys(
    {
      j: { label: "Next run", run: move(1) },
      k: { label: "Previous run", run: move(-1) },
      x: { label: "Show or hide its lines", run: onCurrent(runs.toggleShown) },
      "Shift+x": { label: "Select up to here", run: () => runs.select(currentRow(), "range") },
      c: { label: "Change its color", run: onCurrent(onLook) },
      p: { label: "Pin", run: onCurrent((run) => change({ pin: toggled(state.pin, run.id).slice(-PINS_MAX) })) },
      b: {
        label: "Make it the baseline",
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
    { label: "Runs" },
  );
}

type Page = { readonly projects: readonly { readonly id: string; readonly name: string }[]; readonly total: number };

const ROWS = 100;

/** Finds the id of a project by its name; null if there is none that the signed-in user may see. */
export function useProjectId(name: string): { readonly id: string | null | undefined; readonly error: unknown } {
  const { data, error } = useAnswer(name, async (signal): Promise<string | null> => {
    for (let offset = 0; ; offset += ROWS) {
      const { projects, total } = await query<Page>(`/projects?limit=${ROWS}&offset=${offset}`, { signal });
      const project = projects.find((one) => one.name === name);
      if (project !== undefined) return project.id;
      if (projects.length === 0 || offset + ROWS >= total) return null;
    }
  });
  return { id: data, error };
}
