import { useState } from "preact/hooks";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { byteWords, counted } from "../../../ui/words.ts";
import { Snippet } from "../../../ui/copy-button.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { Time } from "../../../ui/time.tsx";
import { webAddress } from "../../../app/addresses.ts";
import type { TabProps } from "../run-actions.ts";
import { useArtifacts, type Artifact } from "./artifacts.ts";
import { CollectionList } from "./collection-list.tsx";
import { Digest, DownloadLink, FileDialog, type ShownFile } from "../../../artifacts/file-preview.tsx";

/** The files of a run, and the versioned artifacts of its project. */
export function FilesTab({ run, changes }: TabProps) {
  const { artifacts: known, error, hasMore, more, reload } = useArtifacts(run.id, changes.objects);
  const [shown, setShown] = useState<ShownFile>();
  const artifacts = known ?? [];
  return (
    <div class="tm-stack">
      <section class="tm-panel" aria-labelledby="run-files">
        <header>
          <h2 id="run-files">Files of this run</h2>
          {known !== undefined && (
            <span class="tm-muted">
              {hasMore ? "The newest " : ""}
              {counted(artifacts.length, "file")}
            </span>
          )}
        </header>
        <ErrorNote error={error} onRetry={reload} />
        {known === undefined && error === undefined && <Skeleton lines={4} height="22px" />}
        {known !== undefined && artifacts.length === 0 && (
          <EmptyState title="No files yet" icon="file">
            <p>Checkpoints, plots and anything else that a training uploads are listed here.</p>
            <Snippet label="Upload a file" text={'run.upload_file("model.pt")'} />
          </EmptyState>
        )}
        {artifacts.length > 0 && (
          <div class="tm-scroll-x" role="region" aria-label="Files" tabIndex={0}>
            <table class="tm-list-table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Kind</th>
                  <th scope="col" class="tm-number">
                    Step
                  </th>
                  <th scope="col" class="tm-number">
                    Size
                  </th>
                  <th scope="col">SHA-256</th>
                  <th scope="col">Logged</th>
                  <th scope="col">
                    <span class="tm-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {artifacts.map((artifact) => (
                  <FileRow key={artifact.id} artifact={artifact} onShow={setShown} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {hasMore && <Button onClick={more}>Show older files</Button>}
      </section>
      <CollectionList run={run} version={changes.objects} onShow={setShown} />
      {shown !== undefined && <FileDialog file={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}

function FileRow({ artifact, onShow }: { readonly artifact: Artifact; readonly onShow: (file: ShownFile) => void }) {
  const isHere = artifact.storage_backend !== "external";
  const href = `/api/artifacts/${artifact.id}/download`;
  const elsewhere = isHere ? undefined : webAddress(artifact.uri);
  const file: ShownFile = { name: artifact.name, mimeType: artifact.mime_type, bytes: artifact.size_bytes, href };
  return (
    <tr>
      <th scope="row">
        {isHere ? (
          <Button kind="quiet" size="s" icon="file" onClick={() => onShow(file)}>
            {artifact.name}
          </Button>
        ) : (
          <>
            {artifact.name}{" "}
            {elsewhere === undefined ? (
              <code>{artifact.uri}</code>
            ) : (
              <a href={elsewhere} target="_blank" rel="noopener noreferrer">
                {artifact.uri}
              </a>
            )}
          </>
        )}
      </th>
      <td>
        <Badge>{artifact.type}</Badge>
      </td>
      <td class="tm-number">{artifact.step ?? "–"}</td>
      <td class="tm-number">{artifact.size_bytes === null ? "–" : byteWords(artifact.size_bytes)}</td>
      <td>
        <Digest text={artifact.sha256} />
      </td>
      <td>
        <Time at={artifact.created_at} />
      </td>
      <td>{isHere && <DownloadLink href={href} name={artifact.name} />}</td>
    </tr>
  );
}
