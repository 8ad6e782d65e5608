import type { ExactObject } from "@tidemark/documents";
import { ROW_BYTES } from "@tidemark/limits";

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

/** The texts of a run that count as stored; configs and metadata are JSON texts. */
type RunTexts = {
  readonly name?: string | undefined;
  readonly config?: string | undefined;
  readonly metadata?: string | undefined;
  readonly tags?: readonly string[] | undefined;
};

/** Returns the UTF-8 bytes of the texts of a run, as its row counts them. */
export function textBytes({ name = "", config = "", metadata = "", tags = [] }: RunTexts): number {
  return [name, config, metadata, ...tags].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Returns the bytes that a new run counts for. */
export function newRunBytes(texts: RunTexts): number {
  return ROW_BYTES.runs + textBytes(texts);
}
