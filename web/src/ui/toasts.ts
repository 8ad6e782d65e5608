import { signal, type ReadonlySignal } from "@preact/signals";

/** A note about a completed action or an error that disappears by itself. */
export type ShownToast = {
  readonly id: number;
  readonly text: string;
  readonly kind: "plain" | "bad";
  readonly undo?: () => void;
};

/** Notes that are shown at a time; the oldest is removed first. */
const SHOWN_MAX = 4;

const shown = signal<readonly ShownToast[]>([]);
let last = 0;

/** The notes that are shown, the newest last. */
export const toasts: ReadonlySignal<readonly ShownToast[]> = shown;

/** Shows a note. `undo` offers to undo the action; `kind: "bad"` is for errors. */
export function toast(
  text: string,
  options: { readonly undo?: () => void; readonly kind?: "plain" | "bad" } = {},
): void {
  last += 1;
  const { undo: takesBack, kind = "plain" } = options;
  const note: ShownToast = { id: last, text, kind, ...(takesBack === undefined ? {} : { undo: takesBack }) };
  shown.value = [...shown.peek(), note].slice(-SHOWN_MAX);
}

/** Takes a note away. */
export function dismiss(id: number): void {
  shown.value = shown.peek().filter((note) => note.id !== id);
}

/** Undoes the action of a note, once. */
export function undo(note: ShownToast): void {
  if (!shown.peek().includes(note)) return;
  dismiss(note.id);
  note.undo?.();
}

/** Takes back what was done last, if that can be. Returns whether it could. */
export function undoLast(): boolean {
  const note = shown.peek().findLast(({ undo: takesBack }) => takesBack !== undefined);
  if (note !== undefined) undo(note);
  return note !== undefined;
}
