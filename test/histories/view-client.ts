import type { Browser } from "../stack/browser.ts";
import type { Answer } from "../stack/client.ts";
import type { ViewAnswer, ViewOperation } from "./view-model.ts";

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
