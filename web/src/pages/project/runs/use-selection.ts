import { useRef, useState } from "preact/hooks";
import { NOTHING, selectRange, toggleRow, type Selection } from "../../../table/selection.ts";
import type { BulkRun } from "../bulk/bulk.ts";
import type { TableRun } from "./shown-runs.ts";

/** The selected runs of the table. */
export type RunSelection = {
  readonly selected: ReadonlySet<string>;
  /** Those that were selected here, by their ids. */
  readonly known: ReadonlyMap<string, BulkRun>;
  readonly select: (index: number, how: "toggle" | "range", from?: number) => void;
  /** Selects these runs in place of all others. */
  readonly choose: (runs: readonly TableRun[]) => void;
  readonly clear: () => void;
};

/** Selects runs in the table; the data of each is kept, because its page may be dropped. */
export function useSelection(
  ids: readonly string[],
  rowAt: (index: number) => TableRun | undefined,
  onChange: (ids: readonly string[]) => void,
): RunSelection {
  const [selection, setSelection] = useState<Selection>({ ids: new Set(ids), anchor: undefined });
  const known = useRef(new Map<string, BulkRun>());
  const set = (next: Selection): void => {
    setSelection(next);
    onChange([...next.ids]);
  };
  return {
    selected: selection.ids,
    known: known.current,
    select(index, how, from = index) {
      const note = (at: number): string | undefined => {
        const run = rowAt(at);
        if (run !== undefined) known.current.set(run.id, run);
        return run?.id;
      };
      const id = note(index);
      if (id === undefined) return;
      const { ids: chosen, anchor = Math.max(0, from) } = selection;
      set(how === "range" ? selectRange({ ids: chosen, anchor }, index, note) : toggleRow(selection, index, id));
    },
    choose(runs) {
      for (const run of runs) known.current.set(run.id, run);
      set({ ids: new Set(runs.map(({ id }) => id)), anchor: undefined });
    },
    clear: () => set(NOTHING),
  };
}
