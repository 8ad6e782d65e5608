import type { AttributeRow } from "../../../api/run-types.ts";

/** A tag; `isOwn` where it belongs to the run itself and not to what its training logged. */
export type Tag = { readonly tag: string; readonly isOwn: boolean };

/** Joins the tags of a run with those that its training logged as attributes (`sys/tags`, `sys/group_tags`), each once. */
export function tagsOf(
  own: readonly string[],
  attributes: readonly Pick<AttributeRow, "path" | "value">[],
): readonly Tag[] {
  const tags = new Map<string, boolean>(own.map((tag) => [tag, true]));
  for (const { path, value } of attributes) {
    if (path !== "sys/tags" && path !== "sys/group_tags") continue;
    for (const tag of Array.isArray(value) ? value : [value]) {
      if (typeof tag === "string" && tag.trim() !== "" && !tags.has(tag)) tags.set(tag, false);
    }
  }
  return [...tags].map(([tag, isOwn]) => ({ tag, isOwn }));
}
