import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { classes } from "./class-names.ts";
import "./dialog.css";

/**
 * A modal dialog, open while it is mounted. Escape, its cross and a press outside it call `onClose`. The element with `autofocus` gets the focus, and
 * the browser gives it back to where it was. `onSubmit` makes it a form, so that Enter submits.
 */
export function Dialog({
  title,
  onClose,
  onSubmit,
  actions,
  wide = false,
  full = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly onSubmit?: () => void;
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
  /** It takes the whole window. */
  readonly full?: boolean;
  readonly children?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressedBeside = useRef(false);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    // The browser gives the focus back at `close`, which an unmounted dialog never had.
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const content = (
    <>
      <header class="tm-dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="tm-dialog-body">{children}</div>
      {actions !== undefined && <footer class="tm-dialog-actions">{actions}</footer>}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={classes("tm-dialog", wide && "tm-dialog-wide", full && "tm-dialog-full")}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        pressedBeside.current = event.target === event.currentTarget;
      }}
      onClick={(event) => {
        if (pressedBeside.current && event.target === event.currentTarget) onClose();
      }}
    >
      {onSubmit === undefined ? (
        <div class="tm-dialog-box">{content}</div>
      ) : (
        <form
          class="tm-dialog-box"
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}
