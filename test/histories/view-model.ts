import type { Entry, Model } from "./linearize.ts";
import type { Browser } from "../stack/people.ts";
import type { Answer } from "../stack/client.ts";

/** An operation of a client on a workspace view. `knows` is the `updated_at` of the version that the client means. */
export type ViewOperation =
  | { readonly kind: "read" }
  | { readonly kind: "put"; readonly name: string }
  | { readonly kind: "delete"; readonly knows: string }
  | { readonly kind: "replace"; readonly knows: string; readonly name: string };

/** An answer that a client got. */
export type ViewAnswer =
  | { readonly kind: "view"; readonly name: string; readonly version: string }
  | { readonly kind: "deleted" }
  | { readonly kind: "refused"; readonly status: number };

/** A view by the contract: the last PUT wins, and who deletes or replaces names the version that is there. */
export type ViewState = { readonly name: string; readonly version: string; readonly deleted: boolean };

/** An operation of the history of a view. */
export type ViewEntry = Entry<ViewOperation, ViewAnswer>;

const refusal = (state: ViewState, operation: ViewOperation): number | undefined => {
  if (operation.kind === "read" || operation.kind === "put") return state.deleted ? 404 : undefined;
  return state.deleted || operation.knows !== state.version ? 409 : undefined;
};

function follow(state: ViewState, operation: ViewOperation, answer: ViewAnswer): ViewState | undefined {
  const refused = refusal(state, operation);
  if (refused !== undefined || answer.kind === "refused") {
    return answer.kind === "refused" && answer.status === refused ? state : undefined;
  }
  if (operation.kind === "delete") return answer.kind === "deleted" ? { ...state, deleted: true } : undefined;
  if (answer.kind !== "view") return undefined;
  if (operation.kind === "read")
    return answer.name === state.name && answer.version === state.version ? state : undefined;
  // The server chooses the time of a change; it is later than the previous change.
  const isNext = answer.name === operation.name && answer.version > state.version;
  return isNext ? { name: operation.name, version: answer.version, deleted: false } : undefined;
}

/** How a view behaves that was just made. */
export function viewModel(initial: Pick<ViewState, "name" | "version">): Model<ViewState, ViewOperation, ViewAnswer> {
  return { initial: { ...initial, deleted: false }, follow };
}

const PATH = "/api/workspace-views";

/** Returns a moment with six decimals, so that texts compare as moments do. */
export function versionOf({ updated_at }: { readonly updated_at: string }): string {
  const [whole = "", decimals = ""] = updated_at.slice(0, -1).split(".");
  return `${whole}.${decimals.padEnd(6, "0")}Z`;
}

/** Does an operation on a view, and says what was answered. `exported` is a view as a file. */
export async function performOnView(
  browser: Browser,
  viewId: string,
  exported: unknown,
  operation: ViewOperation,
): Promise<ViewAnswer> {
  const { status, json } = await send(browser, viewId, exported, operation);
  if (status !== 200) return { kind: "refused", status };
  if (operation.kind === "delete") return { kind: "deleted" };
  const view = json.workspace_view as { name: string; updated_at: string };
  return { kind: "view", name: view.name, version: versionOf(view) };
}

function send(browser: Browser, viewId: string, exported: unknown, operation: ViewOperation): Promise<Answer> {
  const path = `${PATH}/${viewId}`;
  switch (operation.kind) {
    case "read":
      return browser.get(path);
    case "put":
      return browser.call("PUT", path, { body: { name: operation.name } });
    case "delete":
      return browser.call("DELETE", `${path}?expected_updated_at=${operation.knows}`);
    case "replace":
      return browser.post(`${PATH}/import`, {
        exported_view: exported,
        dry_run: false,
        conflict_strategy: "replace",
        existing_view_id: viewId,
        expected_updated_at: operation.knows,
        name: operation.name,
      });
  }
}
