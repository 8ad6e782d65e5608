import { useEffect, useState } from "preact/hooks";
import "./notes.css";
import { Button, IconButton } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { toast } from "./toasts.ts";

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
    } else toast("The browser does not allow to copy here. Select the text and copy it.", { kind: "bad" });
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
