import { useEffect, useState } from "preact/hooks";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./class-names.ts";
import { dismiss, toasts, undo, type ShownToast } from "./toasts.ts";
import "./toast.css";

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
