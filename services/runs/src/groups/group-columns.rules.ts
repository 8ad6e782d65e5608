import { badRequest } from "@tidemark/errors";
import { GROUP_NAMES_MAX } from "@tidemark/limits";
import type { GroupColumns } from "@tidemark/proto/runs/v1/runs";
import { readColumn, type DocumentColumn } from "../columns/column.rules.ts";

/** The columns that runs are grouped by. */
export type GroupBy =
  | {
      readonly kind: "named";
      readonly columns: readonly (DocumentColumn | "tags")[];
      readonly names: readonly string[];
    }
  | { readonly kind: "all but"; readonly paths: readonly string[] };

/** Reads the columns that runs are grouped by. @throws bad_request with field `by` */
export function readGroupBy({ names, allBut }: Pick<GroupColumns, "names" | "allBut">): GroupBy {
  if (names.length > GROUP_NAMES_MAX || new Set(names).size < names.length)
    throw badRequest(`by must have at most ${GROUP_NAMES_MAX} different names`, "by");
  if (allBut) return { kind: "all but", paths: names.map((name) => configColumn(name).path) };
  return { kind: "named", names, columns: names.map((name) => (name === "tags" ? name : configColumn(name))) };
}

function configColumn(name: string): DocumentColumn {
  const column = readColumn(name);
  if (column?.kind !== "config") throw badRequest("by must name config.<path> or tags; except config.<path>", "by");
  return { kind: "config", path: column.path };
}

/** Returns whether a path is left out or is below a path that is. */
export function isLeftOut(path: string, leftOut: readonly string[]): boolean {
  return leftOut.some((own) => path === own || path.startsWith(`${own}.`));
}
