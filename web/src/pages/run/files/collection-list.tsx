import { useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { runAddress, webAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { byteWords, counted } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Collection, Entry, Version, VersionLineage } from "../../../artifacts/artifact-types.ts";
import { Digest, DownloadLink, type ShownFile } from "../../../artifacts/file-preview.tsx";
import { MoreRows } from "../../../artifacts/more-rows.tsx";
import { collectionAddress } from "../../../artifacts/artifact-addresses.ts";
import { usePages } from "../../../api/use-pages.ts";

/** The versioned artifacts of the project of a run; those whose latest version it made are first. */
export function CollectionList({
  run,
  version,
  onShow,
}: {
  readonly run: RunDetail;
  readonly version: number;
  readonly onShow: (file: ShownFile) => void;
}) {
  const read = usePages<Collection>(`/api/artifact-collections?project_id=${run.project_id}`, "collections", version);
  const isMade = (collection: Collection): boolean => collection.latest_version?.source_run_id === run.id;
  const collections = (read.rows ?? []).toSorted((a, b) => Number(isMade(b)) - Number(isMade(a)));
  if (read.rows !== undefined && collections.length === 0) return null;
  return (
    <section class="tm-panel" aria-labelledby="project-artifacts">
      <header>
        <h2 id="project-artifacts">Versioned artifacts of the project</h2>
        {read.rows !== undefined && <span class="tm-muted">{counted(read.total, "artifact")}</span>}
      </header>
      <ErrorNote error={read.error} onRetry={read.reload} />
      {read.rows === undefined && read.error === undefined && <Skeleton lines={2} height="22px" />}
      <ul class="tm-collections">
        {collections.map((collection) => (
          <CollectionItem
            key={collection.id}
            collection={collection}
            run={run}
            isMade={isMade(collection)}
            onShow={onShow}
          />
        ))}
      </ul>
      <MoreRows of={read} word="artifact" />
    </section>
  );
}

function CollectionItem({
  collection,
  run,
  isMade,
  onShow,
}: {
  readonly collection: Collection;
  readonly run: RunDetail;
  readonly isMade: boolean;
  readonly onShow: (file: ShownFile) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const read = usePages<Version>(
    isOpen ? `/api/artifact-collections/${collection.id}/versions` : undefined,
    "versions",
  );
  return (
    <li>
      <Button
        kind="quiet"
        icon={isOpen ? "chevron-down" : "chevron-right"}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {collection.name}
      </Button>
      <Badge>{collection.type}</Badge> <span class="tm-muted">{counted(collection.versions_count, "version")}</span>{" "}
      {isMade && <Badge kind="accent">latest from this run</Badge>}
      <Link
        href={collectionAddress(run.project, collection.id)}
        aria-label={`Open ${collection.name} among the artifacts of the project`}
      >
        Open
      </Link>
      {isOpen && (
        <div class="tm-nested">
          <ErrorNote error={read.error} onRetry={read.reload} />
          {read.isLoading && read.rows === undefined && <Skeleton lines={2} />}
          <ul>
            {(read.rows ?? []).map((version) => (
              <VersionItem key={version.id} version={version} run={run} onShow={onShow} />
            ))}
          </ul>
          <MoreRows of={read} word="version" />
        </div>
      )}
    </li>
  );
}

function VersionItem({
  version,
  run,
  onShow,
}: {
  readonly version: Version;
  readonly run: RunDetail;
  readonly onShow: (file: ShownFile) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const manifest = useQuery<{ entries: Entry[]; total: number }>(
    isOpen ? `/api/artifact-versions/${version.id}/manifest?limit=1000` : undefined,
  );
  const lineage = useQuery<VersionLineage>(isOpen ? `/api/artifact-versions/${version.id}/lineage` : undefined);
  return (
    <li>
      <Button
        kind="quiet"
        size="s"
        icon={isOpen ? "chevron-down" : "chevron-right"}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {version.version}
      </Button>
      {version.aliases.map((alias) => (
        <Badge key={alias} kind="info">
          {alias}
        </Badge>
      ))}
      {version.source_run_id === run.id ? (
        <Badge kind="accent">from this run</Badge>
      ) : (
        <Link
          href={runAddress(run.project, version.source_run_id, "files")}
        >{`run ${version.source_run_id.slice(0, 8)}`}</Link>
      )}
      {version.source_step !== null && <span class="tm-muted">{`step ${version.source_step}`}</span>}
      <span class="tm-muted">
        {counted(version.file_count, "file")}, {byteWords(version.size_bytes)}
      </span>
      <Digest text={version.digest} />
      <span class="tm-muted">
        <Time at={version.created_at} />
      </span>
      {isOpen && (
        <div class="tm-nested">
          <ErrorNote error={manifest.error ?? lineage.error} />
          {manifest.data === undefined && manifest.error === undefined && <Skeleton lines={2} />}
          {lineage.data !== undefined && <UsedBy lineage={lineage.data} project={run.project} />}
          <table class="tm-list-table">
            <tbody>
              {(manifest.data?.entries ?? []).map((entry) => (
                <EntryRow key={entry.id} entry={entry} onShow={onShow} />
              ))}
            </tbody>
          </table>
          {manifest.data !== undefined && manifest.data.total > manifest.data.entries.length && (
            <p class="tm-muted">{`The first ${manifest.data.entries.length} of ${counted(manifest.data.total, "file")} are shown.`}</p>
          )}
        </div>
      )}
    </li>
  );
}

function UsedBy({ lineage, project }: { readonly lineage: VersionLineage; readonly project: string }) {
  const labels = new Map(lineage.nodes.map((node) => [node.id, node.label]));
  const users = lineage.edges.filter(({ direction }) => direction === "input").map(({ to }) => to);
  if (users.length === 0) return <p class="tm-muted">No run has used this version.</p>;
  return (
    <p>
      Used by{" "}
      {users.map((id, i) => (
        <>
          {i > 0 && ", "}
          <Link key={id} href={runAddress(project, id.replace(/^run:/, ""), "overview")}>
            {labels.get(id) ?? id}
          </Link>
        </>
      ))}
    </p>
  );
}

function EntryRow({ entry, onShow }: { readonly entry: Entry; readonly onShow: (file: ShownFile) => void }) {
  const href = `/api/artifact-entries/${entry.id}/download`;
  const address = entry.reference_uri === null ? undefined : webAddress(entry.reference_uri);
  const file: ShownFile = { name: entry.path, mimeType: entry.mime_type, bytes: entry.size_bytes, href };
  return (
    <tr>
      <th scope="row">
        {entry.downloadable ? (
          <Button kind="quiet" size="s" icon="file" onClick={() => onShow(file)}>
            {entry.path}
          </Button>
        ) : address === undefined ? (
          `${entry.path}${entry.reference_uri === null ? "" : ` → ${entry.reference_uri}`}`
        ) : (
          <a href={address} target="_blank" rel="noopener noreferrer">
            {entry.path}
          </a>
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
