/** What a resource of a test tells about itself when the test fails. */
type Note = () => Promise<string>;

const notes = new Set<Note>();

/** Has errors of tests end with this note, until the returned function is called. */
export function noteOnFailure(note: Note): () => void {
  notes.add(note);
  return () => notes.delete(note);
}

/** Appends the notes to what is printed of an error. */
export async function addNotes(error: unknown): Promise<void> {
  if (!(error instanceof Error)) return;
  const texts = await Promise.all([...notes].map((note) => note().catch(String)));
  // The stack is what is printed.
  error.stack = [error.stack ?? error.message, ...texts].join("\n\n");
}
