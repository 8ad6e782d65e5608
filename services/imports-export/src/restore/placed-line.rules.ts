import type { ArchiveLine } from "@tidemark/archive";

/** A line of an archive with its place in the file, from 1. */
export type PlacedLine = { readonly number: number; readonly line: ArchiveLine };

/** The types of rows whose ids may be taken. */
export type IdType = "project" | "run" | "artifact" | "collection" | "version" | "entry" | "edge" | "report" | "view";

/** The ids that rows get. */
export type NewIds = {
  /** Returns the id that a row of this type gets; an id that is not in the archive stays unchanged. */
  readonly of: (type: IdType, old: string) => string;
  /** Returns a JSON text in which ids of rows of the archive are replaced with the ids that these rows get. */
  readonly inDocument: (json: string) => string;
};
