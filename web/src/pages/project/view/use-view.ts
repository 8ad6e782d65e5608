import { useEffect, useMemo } from "preact/hooks";
import { currentLocation, navigate, setQuery } from "../../../app/location.tsx";
import { stateOf as chartStateOf, type ChartState } from "../../../charts/state/chart-state.ts";
import { call } from "../../../api/client.ts";
import { attempt } from "../../../ui/fault.ts";
import { queryOf, stateOf, type ViewState } from "./view-state.ts";
import { addressOfView } from "./saved-view.ts";

/** Changes some parts of the state; with `replace` the history gets no entry. */
type ChangeView = (changes: Partial<ViewState>, options?: { readonly replace?: boolean }) => void;

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

/** Opens a saved view where the address has its id and nothing else. */
function useSavedView(id: string | undefined): void {
  const isBare = [...currentLocation.value.query].length === 1;
  useEffect(() => {
    if (id === undefined || !isBare) return;
    void attempt(async () => {
      const { workspace_view: view } = await call<{ workspace_view: { payload: unknown } }>(
        `/api/workspace-views/${id}`,
      );
      const query = addressOfView(view.payload, id);
      if (query !== undefined) navigate(`${currentLocation.peek().path}?${query}`, { replace: true });
    });
  }, [id]);
}
