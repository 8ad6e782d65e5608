import { useMemo } from "preact/hooks";
import { currentLocation, setQuery } from "../../../app/location.ts";
import { stateOf as chartStateOf, type ChartState } from "../../../charts/state/chart-state.ts";
import { useSavedView } from "./use-saved-view.ts";
import { queryOf, stateOf, type ViewState } from "./view-state.ts";

/** Changes some parts of the state; with `replace` the history gets no entry. */
export type ChangeView = (changes: Partial<ViewState>, options?: { readonly replace?: boolean }) => void;

/** The state of the page of a project, which its address holds. */
export type View = {
  readonly state: ViewState;
  /** What the charts are grouped by. */
  readonly group: ChartState["group"];
  readonly change: ChangeView;
};

/** Reads the state from the address, and opens the saved view that it names. */
export function useView(): View {
  const { query } = currentLocation.value;
  const state = useMemo(() => stateOf(query), [query.toString()]);
  const group = useMemo(() => chartStateOf(query).group, [query.get("group")]);
  const change: ChangeView = (changes, options) => {
    const { view, ...others } = queryOf({ ...stateOf(currentLocation.peek().query), ...changes });
    setQuery({ ...others, view }, options);
  };
  useSavedView(state.view);
  return { state, group, change };
}
