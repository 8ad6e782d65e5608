import { useEffect, useState } from "preact/hooks";
import "./notes.css";
import { Button, IconButton } from "./button.tsx";
import { toast } from "./toast.tsx";

/** A button that copies a text and says so. With `children` they are its text, without it shows an icon named `label`. */
export function CopyButton({
  text,
  label = "Copy",
  children,
}: {
  readonly text: string;
  readonly label?: string;
  readonly children?: string;
}) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) {
      setDone(true);
      toast("Copied.");
    } else toast("The browser does not allow copying here. Select the text and copy it.", { kind: "bad" });
  };
  const facts = { size: "s", icon: isDone ? "check" : "copy", onClick: () => void copy() } as const;
  return children === undefined ? <IconButton {...facts} label={label} /> : <Button {...facts}>{children}</Button>;
}

/** Code to copy. `label` says what it does. */
export function Snippet({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="tm-snippet">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}

/**
 * Copies a text to the clipboard. Returns whether that worked. Pages of plain HTTP beyond this machine have no `navigator.clipboard`; there the
 * old way is tried.
 */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The browser does not let this page write to the clipboard.
      return copyBySelection(text);
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "tm-hidden";
  const before = document.activeElement;
  // A modal dialog makes everything outside of it inert.
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without a secure context
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
