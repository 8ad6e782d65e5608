import type { Tx } from "@tidemark/pg";
import { RUNS_ALWAYS_FIT, runsThatFit } from "../domain/page-weight.ts";
import { weighRuns } from "../store/weigh-runs.ts";

/** How many of the first runs of a page fit into one answer. Short pages are not weighed. */
export async function fittingRuns(tx: Tx, orgId: string, page: readonly { readonly id: string }[]): Promise<number> {
  if (page.length <= RUNS_ALWAYS_FIT) return page.length;
  return runsThatFit(
    await weighRuns(
      tx,
      orgId,
      page.map(({ id }) => id),
    ),
  );
}
