import { until } from "@tidemark/testkit";
import type { Control } from "../control.fixture.ts";

/** Reads the projection from a cursor on, page after page. */
export async function readProjection(control: Control, from = "", limit = 1000) {
  const pages = [];
  let cursor = from;
  for (;;) {
    const page = await control.client.getProjection({ cursor, limit }, control.anyone);
    pages.push(page);
    ({ cursor } = page);
    if (!page.more) break;
  }
  return {
    cursor,
    pages,
    fromStart: pages[0]!.fromStart,
    organizations: pages.flatMap((page) => page.organizations),
    credentials: pages.flatMap((page) => page.credentials),
  };
}

/**
 * Returns a cursor after all changes so far. Rows are returned again as long as any older transaction is open in any
 * database of the server, so this polls until none do.
 */
export async function restingCursor(control: Control): Promise<string> {
  let { cursor } = await readProjection(control);
  return until("the projection to come to rest", async () => {
    const next = await readProjection(control, cursor);
    if (next.organizations.length + next.credentials.length === 0) return next.cursor;
    ({ cursor } = next);
    return undefined;
  });
}
