import { useEffect } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { currentLocation, navigate } from "../../../app/location.ts";
import { attempt } from "../../../ui/attempt.ts";
import { addressOfView } from "./saved-view.ts";

/** Opens a saved view where the address has its id and nothing else. */
export function useSavedView(id: string | undefined): void {
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
