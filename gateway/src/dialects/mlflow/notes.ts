/** The tag that holds the note of a run or of an experiment. */
export const NOTE_TAG = "mlflow.note.content";

const NOTES_BYTES_MAX = 512;

/** Returns the beginning of a note, as much as the notes of a run and the description of a project may hold. */
export function shortNote(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= NOTES_BYTES_MAX) return note.trim();
  // A character that is cut in half ends as U+FFFD.
  return bytes
    .subarray(0, NOTES_BYTES_MAX)
    .toString()
    .replace(/\uFFFD$/, "")
    .trim();
}

/** Returns the part of the metadata that holds a note which is not the short one; null: there is none. */
export function longNote(note: string): string | null {
  return note === shortNote(note) ? null : note;
}

/** Returns the note: the long one while its beginning is still what was stored with it, else what was written since. */
export function noteOf(short: string | undefined, long: unknown): string | undefined {
  return typeof long === "string" && shortNote(long) === (short ?? "") ? long : short;
}
