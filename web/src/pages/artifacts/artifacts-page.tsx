import "../shared-chunk.ts";
import { useEffect, useState } from "preact/hooks";
import { watchProject } from "../../api/changes.ts";
import { usePages } from "../../api/use-pages.ts";
import { useProjectId } from "../../api/use-project-id.ts";
import { usePaced } from "../../api/use-changes.ts";
import type { Collection } from "../../artifacts/artifact-types.ts";
import { currentLocation, useTitle } from "../../app/location.tsx";
import { classes } from "../../ui/class-names.ts";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { NoProject } from "../project/no-project.tsx";
import "./artifacts.css";
import { CollectionPicker } from "./collection-picker.tsx";
import { CollectionView } from "./collection-view.tsx";
import { VersionView } from "./version-view.tsx";
import { collectionsPath, readView } from "./view-state.ts";

/** Milliseconds between two reads of the list because runs log artifacts. */
const APART_MS = 5000;

/** The versioned artifacts of a project: collections, their versions, and how they were made. */
export function ArtifactsPage({ project }: { readonly project: string }) {
  const { projectId, error, reload } = useProjectId(project);
  if (projectId === null) return <NoProject />;
  if (projectId !== undefined) return <Artifacts key={projectId} project={project} projectId={projectId} />;
  return (
    <div class="tm-artifacts" aria-busy={error === undefined}>
      <ErrorNote error={error} onRetry={reload} />
    </div>
  );
}

function Artifacts({ project, projectId }: { readonly project: string; readonly projectId: string }) {
  const view = readView(currentLocation.value.query);
  const [ownChanges, setOwnChanges] = useState(0);
  const version = useArtifactChanges(projectId) + ownChanges;
  const onChange = (): void => setOwnChanges((count) => count + 1);
  const collections = usePages<Collection>(collectionsPath(projectId, view), "collections", version);
  const isChosen = view.collection !== undefined || view.version !== undefined;
  return (
    <div class={classes("tm-artifacts", isChosen && "tm-artifacts-chosen")}>
      <CollectionPicker collections={collections} view={view} />
      <section class="tm-artifact" aria-label="Chosen artifact">
        {view.version !== undefined ? (
          <VersionView project={project} versionId={view.version} view={view} changes={version} onChange={onChange} />
        ) : view.collection !== undefined ? (
          <CollectionView
            key={view.collection}
            project={project}
            collectionId={view.collection}
            changes={version}
            onChange={onChange}
          />
        ) : (
          <NoChoice project={project} />
        )}
      </section>
    </div>
  );
}

function NoChoice({ project }: { readonly project: string }) {
  useTitle("Artifacts", project);
  return (
    <EmptyState title="Choose an artifact" icon="folder">
      Its versions, their files and how they were made are shown here.
    </EmptyState>
  );
}

/** Counts the changes of what the runs of a project logged, a few seconds apart. */
function useArtifactChanges(projectId: string): number {
  const [count, setCount] = useState(0);
  useEffect(
    () =>
      watchProject(projectId, ({ kind }) => {
        if (kind === "objects" || kind === "reset") setCount((before) => before + 1);
      }),
    [projectId],
  );
  return usePaced(count, APART_MS);
}
