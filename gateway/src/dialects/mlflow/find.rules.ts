import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  FindAnySchema,
  FindConditionSchema,
  FindOperandSchema,
  FindOrderSchema,
} from "@tidemark/proto/runs/v1/find";
import type { FilterClause, SortPart } from "./filter.rules.ts";

export type FoundBy = MessageInitShape<typeof FindOperandSchema>;
export type Condition = MessageInitShape<typeof FindConditionSchema>;
export type AnyOf = MessageInitShape<typeof FindAnySchema>;
export type Order = MessageInitShape<typeof FindOrderSchema>;

/** What a run or a project is found by. */
export const fieldOf = (name: string): FoundBy => ({ of: "field", path: [name] });
/** A member of what MLflow keeps in the metadata. */
export const keptOf = (...path: readonly string[]): FoundBy => ({ of: "metadata", path: ["mlflow", ...path] });

/** Returns a clause as a condition on the first of some values that is there. */
export function conditionOn(
  firstOf: FoundBy[],
  { operator, texts, number }: FilterClause,
  orMissing = false,
): Condition {
  return {
    firstOf,
    operator: operator.toLowerCase(),
    texts: [...texts],
    ...(number === undefined ? {} : { number }),
    orMissing,
  };
}

/** Returns a part of an order. */
export function orderBy(firstOf: FoundBy[], { isDescending }: Pick<SortPart, "isDescending">): Order {
  return { firstOf, descending: isDescending };
}

const VIEWS: Readonly<Record<string, string>> = { ACTIVE_ONLY: "active", DELETED_ONLY: "deleted", ALL: "all" };

/** Reads which rows a search shows, by default those that are not deleted. @throws bad_request */
export function readView(sent: unknown, name: string): string {
  if (sent === undefined || sent === null || sent === "") return "active";
  if (typeof sent === "string" && Object.hasOwn(VIEWS, sent)) return VIEWS[sent]!;
  throw badRequest(`${name} must be one of ${Object.keys(VIEWS).join(", ")}`, name);
}
