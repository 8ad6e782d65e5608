import { IconButton } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";

/** The beginning of a digest, with a button that copies all of it. */
export function Digest({ text }: { readonly text: string | null }) {
  if (text === null) return <>–</>;
  return (
    <span class="tm-digest">
      <code title={text}>{text.replace(/^sha256:/, "").slice(0, 10)}</code>
      <CopyButton text={text} label="Copy the digest" />
    </span>
  );
}

/** A link that downloads; the answer is an attachment, so the page stays. */
export function DownloadLink({ href, name }: { readonly href: string; readonly name: string }) {
  return <IconButton icon="download" size="s" label={`Download ${name}`} onClick={() => startDownload(href)} />;
}

function startDownload(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = "";
  link.click();
}
