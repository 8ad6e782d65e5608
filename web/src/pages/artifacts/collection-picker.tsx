import { COLLECTION_TYPES } from "@tidemark/limits";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PagedRows } from "../../api/use-pages.ts";
import type { Collection } from "../../artifacts/artifact-types.ts";
import { MoreRows } from "../../artifacts/more-rows.tsx";
import { Link, setQuery } from "../../app/location.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { byteWords, counted } from "../../ui/words.ts";
import { collectionHref } from "./page-links.ts";
import type { ArtifactsView } from "./view-state.ts";

/** Milliseconds after the last letter before the list is searched. */
const PAUSE_MS = 200;

const EXAMPLE = [
  'policy = instantml.VersionedArtifact("policy", type="model", files={"weights.pt": "weights.pt"})',
  "run.log_versioned_artifact(policy)",
].join("\n");

/** The collections of a project, those changed last first. */
export function CollectionPicker({
  collections,
  view,
}: {
  readonly collections: PagedRows<Collection>;
  readonly view: ArtifactsView;
}) {
  const { rows, total, error, reload } = collections;
  const isFiltered = view.q !== "" || view.type !== "";
  return (
    <section
      class="tm-artifacts-list"
      aria-labelledby="artifacts-title"
      aria-busy={rows === undefined && error === undefined}
    >
      <header>
        <h1 id="artifacts-title">Artifacts</h1>
        <span class="tm-muted" role="status">
          {rows === undefined
            ? ""
            : counted(total, isFiltered ? "match" : "artifact", isFiltered ? "matches" : undefined)}
        </span>
      </header>
      <div class="tm-artifacts-filter">
        <SearchField q={view.q} />
        <Select
          label="Type"
          hideLabel
          value={view.type}
          options={[
            { value: "", label: "All types" },
            ...COLLECTION_TYPES.map((type) => ({ value: type, label: type })),
          ]}
          onChange={(type) => setQuery({ type })}
        />
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {rows === undefined && error === undefined && <Skeleton lines={6} height="40px" />}
      {rows?.length === 0 &&
        (isFiltered ? (
          <EmptyState title="No artifacts match" icon="search" />
        ) : (
          <EmptyState title="No versioned artifacts yet" icon="folder">
            <p>Models, datasets and other files with versions appear here as runs log them.</p>
            <Snippet label="Log a version" text={EXAMPLE} />
          </EmptyState>
        ))}
      <ul>
        {(rows ?? []).map((collection) => (
          <li key={collection.id}>
            <CollectionItem collection={collection} isChosen={collection.id === view.collection} />
          </li>
        ))}
      </ul>
      <MoreRows of={collections} word="artifact" />
    </section>
  );
}

function CollectionItem({ collection, isChosen }: { readonly collection: Collection; readonly isChosen: boolean }) {
  const { id, name, type, latest_version: latest, versions_count: count } = collection;
  return (
    <Link class="tm-artifacts-item" href={collectionHref(id)} aria-current={isChosen ? "true" : undefined}>
      <span class="tm-artifacts-name">{name}</span>
      <Badge>{type}</Badge>
      <span class="tm-muted tm-artifacts-facts">
        {`${latest === null ? "" : `${latest.version}, `}${counted(count, "version")}, ${byteWords(collection.retained_bytes)}, `}
        <Time at={collection.updated_at} />
      </span>
    </Link>
  );
}

function SearchField({ q }: { readonly q: string }) {
  const [text, setText] = useState(q);
  const sent = useRef(q);
  // Going back in the history changes the search from outside.
  useEffect(() => {
    if (q !== sent.current) setText(q);
    sent.current = q;
  }, [q]);
  useEffect(() => {
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      setQuery({ q: text }, { replace: true });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField
      label="Search artifacts"
      hideLabel
      type="search"
      placeholder="Search by name"
      value={text}
      onInput={setText}
    />
  );
}
