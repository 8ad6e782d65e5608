import type { DisplayStatus } from "@tidemark/run-state";

/** What a text term looks into. `all`: the summary text (project, name, tags, notes, status, id), the config and the metadata. */
export type TextField = "all" | "name" | "project" | "notes" | "config" | "metadata";

/** What a regular expression looks into: each tag by itself, the status that is shown, or one of the texts. */
export type RegexField = TextField | "tag" | "status";

/**
 * What a run must be to be found (API specification, Run search). No text in it holds a NUL or half
 * of a surrogate pair, so each can be sent to PostgreSQL.
 */
export type SearchTree =
  /** The field holds the text; its ASCII letters are lower case, as in the searched text. */
  | { readonly kind: "text"; readonly field: TextField; readonly text: string }
  /** One of the tags is this one, all of it; ASCII letters are lower case. */
  | { readonly kind: "tag"; readonly tag: string }
  /** The run shows this status. */
  | { readonly kind: "status"; readonly status: DisplayStatus }
  /** The id begins so. ASCII letters are lower case; what is no beginning of a UUID is allowed and finds nothing. */
  | { readonly kind: "id"; readonly prefix: string }
  /** The pattern occurs in the field, whatever the case; accepted by the engine, and empty text does not match it. */
  | { readonly kind: "regex"; readonly field: RegexField; readonly pattern: string }
  | { readonly kind: "not"; readonly node: SearchTree }
  /** Two nodes or more. */
  | { readonly kind: "and" | "or"; readonly nodes: readonly SearchTree[] };

/**
 * Finds no run: ids are UUIDs, and none begins like this. It stands for a text that holds a NUL or
 * half of a surrogate pair, which no stored text does. Refusing such a text would break the rule
 * that a query which is still being typed never fails.
 */
export const FINDS_NOTHING: SearchTree = { kind: "id", prefix: "nothing" };
