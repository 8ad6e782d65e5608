import "../shared-chunk.ts";
import "../run-lists.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { watchProject } from "../../api/changes.ts";
import { usePaced } from "../../api/use-changes.ts";
import { currentLocation, setQuery } from "../../app/location.tsx";
import { keyMatch } from "../../charts/keys/sections.ts";
import { SideBySide } from "../../media/lazy-side-by-side.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { TextField } from "../../ui/field.tsx";
import { EmptyState } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { ProjectPage } from "../project/project-page.tsx";
import type { ProjectRuns } from "../project/runs/use-project-runs.ts";
import "./media-page.css";

/** Milliseconds between two reads while the runs log. */
const AGAIN_MS = 5000;

/** The pictures, sounds, videos, tables and histograms of the runs that the table of a project shows. */
export function MediaPage({ project }: { readonly project: string }) {
  return <ProjectPage project={project} other={PANE} />;
}

const PANE = { label: "Media", split: 28, Pane: MediaPane };

function MediaPane({ projectId, runs: { chartRuns } }: { readonly projectId: string; readonly runs: ProjectRuns }) {
  const search = currentLocation.value.query.get("find") ?? "";
  const { test, fault } = useMemo(() => keyMatch(search), [search]);
  const version = useLogged(projectId, chartRuns ?? []);
  if (chartRuns === undefined) return <Skeleton lines={6} height="40px" />;
  return (
    <div class="tm-project-charts tm-media">
      <SideBySide
        runs={chartRuns}
        search={search}
        matches={test}
        version={version}
        tools={
          <TextField
            label="Search keys"
            hideLabel
            type="search"
            placeholder="Search keys: samples, or re:/grid$/"
            value={search}
            error={fault}
            onInput={(find) => setQuery({ find }, { replace: true })}
          />
        }
        empty={<NoMedia hasRuns={chartRuns.length > 0} />}
      />
    </div>
  );
}

function NoMedia({ hasRuns }: { readonly hasRuns: boolean }) {
  if (!hasRuns) {
    return (
      <EmptyState title="No runs shown" icon="image">
        Show runs by the eyes in the table to see what they logged side by side.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No media yet" icon="image">
      <p>Pictures, videos, sounds, tables and histograms of the runs that the table shows appear here side by side.</p>
      <Snippet
        label="Log an image and a histogram"
        text={'run.log_image("samples/grid", "grid.png", step=100)\nrun.log_histogram("weights", weights, step=100)'}
      />
    </EmptyState>
  );
}

/** How often any of the runs has logged objects since the page opened, not more often than they are to be read. */
function useLogged(projectId: string, runs: readonly { readonly id: string }[]): number {
  const [count, setCount] = useState(0);
  const names = runs.map(({ id }) => id).join();
  useEffect(
    () =>
      watchProject(projectId, ({ kind, run_id: runId }) => {
        if (kind === "reset" || (kind === "objects" && names.includes(runId ?? ""))) setCount((before) => before + 1);
      }),
    [projectId, names],
  );
  return usePaced(count, AGAIN_MS);
}
