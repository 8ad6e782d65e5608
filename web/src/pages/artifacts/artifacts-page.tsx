import "../shared-chunk.ts";
import { useQuery } from "../../api/use-answer.ts";
import { useTitle } from "../../app/location.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { counted } from "../../ui/words.ts";
import "./artifacts.css";

type Collection = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly versions_count: number;
};

/** The collections of a project. */
export function ArtifactsPage({ project }: { readonly project: string }) {
  useTitle("Artifacts", project);
  const { data, error, reload } = useQuery<{ readonly collections: readonly Collection[] }>(
    `/api/artifact-collections?project=${encodeURIComponent(project)}&limit=200`,
  );
  return (
    <div class="tm-artifacts">
      <h1>Artifacts</h1>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={5} height="22px" />}
      {data?.collections.length === 0 && <EmptyState title="No versioned artifacts yet" icon="folder" />}
      <ul>
        {(data?.collections ?? []).map(({ id, name, type, versions_count: count }) => (
          <li key={id}>
            {name} <Badge>{type}</Badge> <span class="tm-muted">{counted(count, "version")}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
