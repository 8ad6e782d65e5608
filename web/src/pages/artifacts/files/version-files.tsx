import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import type { Entry, Version } from "../../../artifacts/artifact-types.ts";
import { Digest, DownloadLink, FileDialog, type ShownFile } from "../../../artifacts/file-preview.tsx";
import { webAddress } from "../../../app/addresses.ts";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { byteWords, counted } from "../../../ui/words.ts";
import { fileRows, type FileRow } from "./file-tree.ts";

/** The files of a version as a tree. A version has at most as many as one page of the API. */
export function VersionFiles({ version }: { readonly version: Version }) {
  const { data, error, reload } = useQuery<{ entries: Entry[] }>(
    `/api/artifact-versions/${version.id}/manifest?limit=1000`,
  );
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState("");
  const [shown, setShown] = useState<ShownFile>();
  const rows = useMemo(() => fileRows(data?.entries ?? [], { closed, search }), [data, closed, search]);
  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  return (
    <section class="tm-panel" aria-label="Files">
      <header>
        <span class="tm-muted">{`${counted(version.file_count, "file")}, ${byteWords(version.size_bytes)}`}</span>
        <TextField
          label="Search files"
          hideLabel
          type="search"
          placeholder="Search files"
          value={search}
          onInput={setSearch}
        />
      </header>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="22px" />}
      {data !== undefined && rows.length === 0 && <p class="tm-muted">No file matches.</p>}
      {rows.length > 0 && (
        <div class="tm-scroll-x" role="region" aria-label="Files of this version" tabIndex={0}>
          <table class="tm-list-table tm-file-tree">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" class="tm-number">
                  Size
                </th>
                <th scope="col">SHA-256</th>
                <th scope="col">
                  <span class="tm-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) =>
                row.kind === "folder" ? (
                  <FolderLine
                    key={`${row.path}/`}
                    row={row}
                    isOpen={!closed.has(row.path)}
                    onToggle={() => toggle(row.path)}
                  />
                ) : (
                  <EntryLine key={row.path} row={row} onShow={setShown} />
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
      {shown !== undefined && <FileDialog file={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

/** Pixels by which a line is further in than the folder that it is in. */
const INDENT = 18;

type LineOf<Kind> = Extract<FileRow, { readonly kind: Kind }>;

function FolderLine({
  row: { name, depth, files, bytes },
  isOpen,
  onToggle,
}: {
  readonly row: LineOf<"folder">;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <tr>
      <th scope="row" style={{ paddingInlineStart: `${depth * INDENT}px` }}>
        <Button
          kind="quiet"
          size="s"
          icon={isOpen ? "chevron-down" : "chevron-right"}
          aria-expanded={isOpen}
          onClick={onToggle}
        >
          {name}
        </Button>
        <span class="tm-muted">{counted(files, "file")}</span>
      </th>
      <td class="tm-number">{byteWords(bytes)}</td>
      <td />
      <td />
    </tr>
  );
}

function EntryLine({
  row: { name, depth, entry },
  onShow,
}: {
  readonly row: LineOf<"entry">;
  readonly onShow: (file: ShownFile) => void;
}) {
  const href = `/api/artifact-entries/${entry.id}/download`;
  const address = entry.reference_uri === null ? undefined : webAddress(entry.reference_uri);
  const file: ShownFile = { name: entry.path, mimeType: entry.mime_type, bytes: entry.size_bytes, href };
  return (
    <tr>
      <th scope="row" style={{ paddingInlineStart: `${depth * INDENT}px` }}>
        {entry.downloadable ? (
          <Button kind="quiet" size="s" icon="file" onClick={() => onShow(file)}>
            {name}
          </Button>
        ) : (
          <span class="tm-file-elsewhere">
            <Icon name={entry.kind === "directory" ? "folder" : "external"} />
            {address === undefined ? (
              `${name}${entry.reference_uri === null ? "" : ` → ${entry.reference_uri}`}`
            ) : (
              <a href={address} target="_blank" rel="noopener noreferrer">
                {name}
              </a>
            )}
          </span>
        )}
      </th>
      <td class="tm-number">{entry.size_bytes === null ? "–" : byteWords(entry.size_bytes)}</td>
      <td>
        <Digest text={entry.sha256} />
      </td>
      <td>{entry.downloadable && <DownloadLink href={href} name={entry.path} />}</td>
    </tr>
  );
}
