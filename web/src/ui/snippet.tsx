import { CopyButton } from "./copy-button.tsx";
import "./notes.css";

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
