import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import "./dialog.css";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./class-names.ts";
import { ErrorNote } from "./page-states.tsx";

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
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly onSubmit?: () => void;
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
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
      class={classes("tm-dialog", wide && "tm-dialog-wide")}
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

/** Asks before something that cannot be undone, does it, and says why where it cannot be done. */
export function ConfirmDialog({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" busy={isBusy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      <div>{children}</div>
      <ErrorNote error={fault} />
    </Dialog>
  );
}
