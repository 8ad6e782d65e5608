import { addressOf } from "../api/base-path.ts";
import { send } from "../api/client.ts";
import { useAnswer } from "../api/use-answer.ts";
import { ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { IconButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { isText, prettyJson, PREVIEW_BYTES, previewKind, type PreviewKind } from "./preview.ts";

/** A file that can be looked at. */
export type ShownFile = {
  readonly name: string;
  readonly mimeType: string | null;
  readonly bytes: number | null;
  readonly href: string;
};

/** A file to look at, with a link that downloads it. */
export function FileDialog({ file, onClose }: { readonly file: ShownFile; readonly onClose: () => void }) {
  return (
    <Dialog
      title={file.name}
      wide
      onClose={onClose}
      actions={
        <a class="tm-button tm-button-plain" href={file.href} download>
          Download
        </a>
      }
    >
      <FilePreview file={file} />
    </Dialog>
  );
}

/**
 * Shows a file within bounds. Texts are shown as text with any content; images, videos and audio only by their elements, in which
 * nothing runs, SVG included.
 */
function FilePreview({ file }: { readonly file: ShownFile }) {
  const kind = previewKind(file.mimeType, file.name, file.bytes);
  if (kind === "image") return <img class="tm-preview-image" src={file.href} alt={file.name} loading="lazy" />;
  if (kind === "video")
    return <video class="tm-preview-image" src={file.href} controls preload="metadata" aria-label={file.name} />;
  if (kind === "audio") return <audio src={file.href} controls preload="none" aria-label={file.name} />;
  if (kind === "none") return <p class="tm-muted">This kind of file has no preview. Download it to view it.</p>;
  return <TextPreview file={file} kind={kind} />;
}

function TextPreview({ file, kind }: { readonly file: ShownFile; readonly kind: PreviewKind }) {
  const { data: shown, error } = useAnswer(file.href, async (signal) => {
    // An empty file has no range.
    const headers: Record<string, string> = file.bytes === 0 ? {} : { range: `bytes=0-${PREVIEW_BYTES - 1}` };
    const response = await send(file.href, { headers, signal });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = isText(bytes)
      ? new TextDecoder().decode(bytes.subarray(0, PREVIEW_BYTES))
      : "This is not a text file.";
    return { text: kind === "json" ? prettyJson(text) : text, isCut: (file.bytes ?? 0) > PREVIEW_BYTES };
  });
  if (error !== undefined) return <ErrorNote error={error} />;
  if (shown === undefined) return <Skeleton lines={6} />;
  return (
    <>
      <pre class="tm-preview-text" tabIndex={0} role="region" aria-label={`Contents of ${file.name}`}>
        {shown.text}
      </pre>
      {shown.isCut && <p class="tm-muted">Only the beginning is shown. Download the file to see the rest.</p>}
    </>
  );
}

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
  link.href = addressOf(href);
  link.download = "";
  link.click();
}
