import { usePages } from "../../api/use-pages.ts";
import { useQuery } from "../../api/use-answer.ts";
import type { Collection, Version } from "../../artifacts/artifact-types.ts";
import { MoreRows } from "../../artifacts/more-rows.tsx";
import { runAddress } from "../../app/addresses.ts";
import { Link, useTitle } from "../../app/location.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { byteWords, counted, countWords } from "../../ui/words.ts";
import { AliasList } from "./aliases/alias-list.tsx";
import { MetadataPanel } from "./metadata-panel.tsx";
import { pageHref, versionHref } from "./page-links.ts";

/** A collection with its versions, the newest first. */
export function CollectionView({
  project,
  collectionId,
  changes,
  onChange,
}: {
  readonly project: string;
  readonly collectionId: string;
  readonly changes: number;
  readonly onChange: () => void;
}) {
  const path = `/api/artifact-collections/${encodeURIComponent(collectionId)}`;
  const read = useQuery<{ collection: Collection }>(path, { version: changes });
  const versions = usePages<Version>(`${path}/versions`, "versions", changes);
  const collection = read.data?.collection;
  useTitle(collection?.name ?? "Artifacts", project);
  return (
    <div class="tm-stack" aria-busy={collection === undefined && read.error === undefined}>
      <ErrorNote error={read.error} onRetry={read.reload} />
      {collection !== undefined && (
        <header class="tm-artifact-head">
          <BackToList />
          <h2>{collection.name}</h2>
          <Badge>{collection.type}</Badge>
          <span class="tm-muted">
            {`${counted(collection.versions_count, "version")}, ${byteWords(collection.retained_bytes)}, changed `}
            <Time at={collection.updated_at} />
          </span>
        </header>
      )}
      {typeof collection?.description === "string" && <p>{collection.description}</p>}
      <section class="tm-panel" aria-labelledby="artifact-versions">
        <h3 id="artifact-versions">Versions</h3>
        <ErrorNote error={read.error === undefined ? versions.error : undefined} onRetry={versions.reload} />
        {versions.rows === undefined && versions.error === undefined && <Skeleton lines={4} height="22px" />}
        {versions.rows?.length === 0 && (
          <p class="tm-muted">No version is available: all were deleted or have expired.</p>
        )}
        {versions.rows !== undefined && versions.rows.length > 0 && (
          <VersionTable project={project} versions={versions.rows} onChange={onChange} />
        )}
        <MoreRows of={versions} word="version" />
      </section>
      {collection !== undefined && <MetadataPanel metadata={collection.metadata} />}
    </div>
  );
}

/** Shown where the list and what was chosen of it do not fit next to each other. */
export function BackToList() {
  return (
    <Link
      class="tm-artifacts-back"
      href={pageHref({ collection: undefined, version: undefined, tab: undefined, hops: undefined })}
    >
      All artifacts
    </Link>
  );
}

function VersionTable({
  project,
  versions,
  onChange,
}: {
  readonly project: string;
  readonly versions: readonly Version[];
  readonly onChange: () => void;
}) {
  return (
    <div class="tm-scroll-x" role="region" aria-label="Table of the versions" tabIndex={0}>
      <table class="tm-list-table">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Aliases</th>
            <th scope="col" class="tm-number">
              Size
            </th>
            <th scope="col" class="tm-number">
              Files
            </th>
            <th scope="col">Made by</th>
            <th scope="col">Made</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr key={version.id}>
              <th scope="row">
                <Link href={versionHref(version.collection_id, version.id)}>{version.version}</Link>
              </th>
              <td>
                <AliasList version={version} onChange={onChange} />
              </td>
              <td class="tm-number">{byteWords(version.size_bytes)}</td>
              <td class="tm-number">{countWords(version.file_count)}</td>
              <td>
                <MakerLink project={project} version={version} />
              </td>
              <td>
                <Time at={version.created_at} />
              </td>
              <td>
                <VersionState version={version} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The run that made a version; lists know only its id. */
function MakerLink({ project, version }: { readonly project: string; readonly version: Version }) {
  return (
    <>
      <Link href={runAddress(project, version.source_run_id, "overview")}>
        {`run ${version.source_run_id.slice(0, 8)}`}
      </Link>
      {version.source_step !== null && <span class="tm-muted">{` at step ${version.source_step}`}</span>}
    </>
  );
}

/** Whether a version is there, and until when. */
export function VersionState({ version }: { readonly version: Version }) {
  if (version.state === "soft_deleted") return <Badge kind="bad">Deleted</Badge>;
  if (version.expires_at === null) return <Badge kind="good">Available</Badge>;
  return (
    <span>
      <Badge kind="warn">Expires</Badge> <Time at={version.expires_at} />
    </span>
  );
}
