import { useEffect } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { useQuery } from "../../api/use-answer.ts";
import type { Collection, Version } from "../../artifacts/artifact-types.ts";
import { VERSION_TABS } from "../../artifacts/artifact-addresses.ts";
import { Digest } from "../../artifacts/file-preview.tsx";
import { Link, setQuery, useTitle } from "../../app/location.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { useLast } from "../../ui/use-last.ts";
import { byteWords, counted } from "../../ui/words.ts";
import { AliasList } from "./aliases/alias-list.tsx";
import { BackToList, VersionState } from "./collection-view.tsx";
import { VersionFiles } from "./files/version-files.tsx";
import { LineageView } from "./lineage/lineage-view.tsx";
import { MetadataPanel } from "./metadata-panel.tsx";
import { collectionHref } from "./page-links.ts";
import { VersionRuns } from "./version-runs.tsx";
import type { ArtifactsView } from "./view-state.ts";

const TABS = VERSION_TABS.map((id) => ({ id, label: `${id.charAt(0).toUpperCase()}${id.slice(1)}` }));

type VersionProps = {
  readonly project: string;
  readonly versionId: string;
  readonly view: ArtifactsView;
  readonly changes: number;
  readonly onChange: () => void;
};

/** A version: what it is, its files, and what it was made from. */
export function VersionView({ project, versionId, view, changes, onChange }: VersionProps) {
  const path = `/api/artifact-versions/${encodeURIComponent(versionId)}`;
  const { data, error, reload } = useQuery<{ artifact_version: Version }>(path, { version: changes });
  // The version before stays until the next one is there, and with it the focus.
  const version = useLast(data?.artifact_version);
  useTitle(version === undefined ? "Artifacts" : `${version.name}:${version.version}`, project);
  const collectionId = data?.artifact_version.collection_id;
  useEffect(() => {
    if (collectionId !== undefined) setQuery({ collection: collectionId }, { replace: true });
  }, [collectionId, versionId]);
  if (data === undefined && error instanceof ApiError && (error.status === 404 || error.status === 410)) {
    return <NoVersion isGone={error.status === 410} collectionId={view.collection} />;
  }
  if (version === undefined || (data === undefined && error !== undefined)) {
    return (
      <div aria-busy={error === undefined}>
        <ErrorNote error={error} onRetry={reload} />
        {error === undefined && <Skeleton lines={6} height="22px" />}
      </div>
    );
  }
  return (
    <div class="tm-stack">
      <header class="tm-artifact-head">
        <BackToList />
        <h2>
          <Link href={collectionHref(version.collection_id)}>{version.name}</Link>
          {`:${version.version}`}
        </h2>
        <Badge>{version.type}</Badge>
        <AliasList version={version} onChange={onChange} />
      </header>
      <ErrorNote error={error} onRetry={reload} />
      <Tabs
        name="version"
        label="Version"
        tabs={TABS}
        current={view.tab}
        onSelect={(tab) => setQuery({ tab: tab === "overview" ? undefined : tab })}
      />
      <TabPanel name="version" current={view.tab}>
        {view.tab === "overview" && <Overview project={project} version={version} changes={changes} />}
        {view.tab === "files" && <VersionFiles key={version.id} version={version} />}
        {view.tab === "lineage" && (
          <LineageView project={project} version={version} hops={view.hops} changes={changes} />
        )}
      </TabPanel>
    </div>
  );
}

function Overview({
  project,
  version,
  changes,
}: {
  readonly project: string;
  readonly version: Version;
  readonly changes: number;
}) {
  const path = `/api/artifact-collections/${version.collection_id}`;
  const { data, error } = useQuery<{ collection: Collection }>(path, { version: changes });
  const facts = [
    ["State", <VersionState version={version} />],
    ["Made", <Time at={version.created_at} />],
    ["Contents", `${counted(version.file_count, "file")}, ${byteWords(version.size_bytes)}`],
    ["Digest", <Digest text={version.digest} />],
    ["Reference", <code>{`${version.type}/${version.name}:${version.version}`}</code>],
  ] as const;
  return (
    <div class="tm-stack">
      {typeof data?.collection.description === "string" && <p>{data.collection.description}</p>}
      <div class="tm-two">
        <section class="tm-panel" aria-label="About this version">
          <dl class="tm-pairs">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
        <VersionRuns project={project} version={version} changes={changes} />
      </div>
      <ErrorNote error={error} />
      {data !== undefined && <MetadataPanel metadata={data.collection.metadata} />}
    </div>
  );
}

function NoVersion({ isGone, collectionId }: { readonly isGone: boolean; readonly collectionId: string | undefined }) {
  return (
    <EmptyState
      title={isGone ? "This version is no longer available" : "Version not found"}
      icon="search"
      actions={
        collectionId === undefined ? (
          <BackToList />
        ) : (
          <Link href={collectionHref(collectionId)}>Show the other versions</Link>
        )
      }
    >
      {isGone
        ? "It was deleted, or has expired."
        : "It may belong to another organization or a deleted project, or its address is incomplete."}
    </EmptyState>
  );
}
