import type { ExactObject } from "./exact-json.ts";

/**
 * The notes of a run: the text `metadata.notes`, or undefined. They live in the metadata, because
 * that is where clients send them when they create a run.
 */
export function notesOf(metadata: ExactObject): string | undefined {
  const notes = Object.hasOwn(metadata, "notes") ? metadata["notes"] : undefined;
  // Clients may put any text there; half of a surrogate pair could not leave as UTF-8.
  return typeof notes === "string" ? notes.toWellFormed() : undefined;
}

/** The metadata with other notes; the empty text removes them. The input stays as it is. */
export function withNotes(metadata: ExactObject, notes: string): ExactObject {
  const { notes: _before, ...rest } = metadata;
  return notes === "" ? rest : { ...rest, notes };
}
