import { useEffect, useState } from "preact/hooks";
import { signal, type ReadonlySignal } from "@preact/signals";
import "./toast.css";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./class-names.ts";

/** A note about a completed action or an error that disappears by itself. */
type ShownToast = {
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
const toasts: ReadonlySignal<readonly ShownToast[]> = shown;

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

/** Takes back what was done last, if that can be. Returns whether it could. */
export function undoLast(): boolean {
  const note = shown.peek().findLast(({ undo: takesBack }) => takesBack !== undefined);
  if (note !== undefined) undo(note);
  return note !== undefined;
}

/** Undoes the action of a note, once. */
function undo(note: ShownToast): void {
  if (!shown.peek().includes(note)) return;
  dismiss(note.id);
  note.undo?.();
}

/** Takes a note away. */
function dismiss(id: number): void {
  shown.value = shown.peek().filter((note) => note.id !== id);
}

/** Milliseconds that a note stays; one that can be undone stays longer. None disappears while the pointer or the focus is on them. */
const STAYS_MS = 6000;
const STAYS_WITH_UNDO_MS = 12_000;

/** Where notes appear. It is there from the start, because only changes of a live region are read out. */
export function Toasts() {
  const [isHeld, setHeld] = useState(false);
  return (
    <section
      class="tm-toasts"
      aria-label="Notifications"
      role="status"
      aria-live="polite"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      {toasts.value.map((shown) => (
        <Toast key={shown.id} shown={shown} isHeld={isHeld} />
      ))}
    </section>
  );
}

function Toast({ shown, isHeld }: { readonly shown: ShownToast; readonly isHeld: boolean }) {
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dismiss(shown.id), shown.undo === undefined ? STAYS_MS : STAYS_WITH_UNDO_MS);
    return () => clearTimeout(timer);
  }, [isHeld, shown]);
  return (
    <div class={classes("tm-toast", shown.kind === "bad" && "tm-toast-bad")}>
      <span>{shown.text}</span>
      {shown.undo !== undefined && (
        <Button kind="quiet" size="s" icon="undo" title="Ctrl+Z" onClick={() => undo(shown)}>
          Undo
        </Button>
      )}
      <IconButton icon="close" label="Dismiss" size="s" onClick={() => dismiss(shown.id)} />
    </div>
  );
}
