import { useEffect, useState } from "preact/hooks";
import { lastAnswer } from "../../api/queries.ts";
import { may, mayWrite } from "../../api/session.ts";
import { useQuery } from "../../api/use-answer.ts";
import { runAddress } from "../../app/addresses.ts";
import { useKeys } from "../../app/keys.ts";
import { currentLocation, Link, setQuery, useTitle } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TextField } from "../../ui/field.tsx";
import { Time } from "../../ui/time.tsx";
import "./projects-page.css";
import { FirstRun, NewProject } from "./new-project.tsx";
import { ProjectCard, type Project } from "./project-card.tsx";

const PROJECTS = "/projects?limit=1000";
/** Runs without a sign of life for long are not running, whatever their status says. */
const ACTIVE = "/api/runs/summary?status=running&stale=false&limit=8";
/** How often the list of active runs is read again. */
const ACTIVE_AGAIN_MS = 10_000;
/** Cards that are drawn at a time. */
const CARDS = 60;

type ProjectList = { readonly projects: readonly Project[]; readonly total: number };

/** All projects, and what runs now. */
export function ProjectsPage() {
  useTitle("Projects");
  const text = currentLocation.value.query.get("q") ?? "";
  const { data, error, reload } = useQuery<ProjectList>(PROJECTS);
  const list = data ?? lastAnswer<ProjectList>(PROJECTS);
  const [isNew, setNew] = useState(false);
  const [shown, setShown] = useState(CARDS);
  useKeys(
    {
      "/": { label: "Search projects", run: () => document.querySelector<HTMLInputElement>("input[name=q]")?.focus() },
    },
    { label: "Projects" },
  );
  const canCreate = mayWrite();
  const found = list?.projects.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase())) ?? [];
  return (
    <div class="tm-page">
      <header class="tm-page-head">
        <h1>Projects</h1>
        {list !== undefined && list.total > 0 && (
          <TextField
            label="Search projects"
            hideLabel
            type="search"
            name="q"
            placeholder="Search projects"
            value={text}
            onInput={(q) => setQuery({ q }, { replace: true })}
          />
        )}
        {canCreate && (
          <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
            New project
          </Button>
        )}
      </header>
      <ErrorNote error={error} onRetry={reload} />
      {list === undefined && error === undefined && <Waiting />}
      {list?.total === 0 && <FirstRun mayMakeKeys={may("keys")} />}
      <ActiveRuns />
      {list !== undefined && list.total > 0 && found.length === 0 && (
        <EmptyState
          icon="search"
          title="No projects match"
          actions={<Button onClick={() => setQuery({ q: undefined }, { replace: true })}>Show all projects</Button>}
        />
      )}
      {found.length > 0 && (
        <>
          <p class="tm-muted" role="status">
            {counted(found.length, "project")}
          </p>
          <ul class="tm-projects">
            {found.slice(0, shown).map((project) => (
              <ProjectCard key={project.id} project={project} />
            ))}
          </ul>
        </>
      )}
      {found.length > shown && <Button onClick={() => setShown(shown + CARDS)}>Show more projects</Button>}
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </div>
  );
}

/** A run of the summary, as far as the list of active ones shows it. */
type ActiveRun = {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly status: string;
  readonly display_status?: string;
  readonly stale?: boolean;
  readonly started_at: string;
};

/** The active runs of all projects. */
function ActiveRuns() {
  const version = useTicks(ACTIVE_AGAIN_MS);
  // The page is about the projects, and their request reports errors.
  const { data } = useQuery<{ readonly runs: readonly ActiveRun[] }>(ACTIVE, { version });
  const runs = data?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <section class="tm-card" aria-labelledby="active-runs">
      <h2 id="active-runs">Running now</h2>
      <ul class="tm-active">
        {runs.map((run) => (
          <li key={run.id}>
            <StatusBadge status={run.display_status ?? run.status} stale={run.stale === true} />
            <Link href={runAddress(run.project, run.id)}>{run.name === "" ? run.id : run.name}</Link>
            <span class="tm-muted">{run.project}</span>
            <span class="tm-muted">
              <Time at={run.started_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Counts how often a time has passed while the page was visible. */
function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setTicks((count) => count + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return ticks;
}

function Waiting() {
  return (
    <div class="tm-projects" aria-busy="true">
      {Array.from({ length: 6 }, (_, i) => (
        <Skeleton key={i} height="92px" />
      ))}
    </div>
  );
}
