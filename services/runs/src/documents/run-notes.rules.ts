import type { ExactObject } from "@tidemark/documents";

/**
 * Returns the notes of a run: the text `metadata.notes`, or undefined. Clients send them in the
 * metadata when they create a run.
 */
export function notesOf(metadata: ExactObject): string | undefined {
  const notes = Object.hasOwn(metadata, "notes") ? metadata["notes"] : undefined;
  // Clients may send any text; half of a surrogate pair cannot be encoded as UTF-8.
  return typeof notes === "string" ? notes.toWellFormed() : undefined;
}

/** Returns a copy of the metadata with other notes; the empty text removes them. */
export function withNotes(metadata: ExactObject, notes: string): ExactObject {
  const { notes: _before, ...rest } = metadata;
  return notes === "" ? rest : { ...rest, notes };
}
