import { useEffect, useRef, useState } from "preact/hooks";
import { lastAnswer } from "../../api/queries.ts";
import { useQuery } from "../../api/use-answer.ts";
import { projectAddress } from "../../app/addresses.ts";
import { Link } from "../../app/location.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { counted } from "../../ui/words.ts";
import { Time } from "../../ui/time.tsx";

/** A project as its list gives it. */
export type Project = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: string;
};

/** Figures of a project. */
type Overview = { readonly total_runs: number; readonly active_runs: number; readonly failed_runs: number };

type Answer = { readonly overview: Overview };

/** A project with its figures, which are requested when the card is visible. */
export function ProjectCard({ project }: { readonly project: Project }) {
  const card = useRef<HTMLLIElement>(null);
  const figures = useFigures(project.id, card);
  const active = useActive(project.id, figures);
  return (
    <li ref={card} class="tm-card tm-project-card">
      <h2>
        <Link href={projectAddress(project.name)}>{project.name}</Link>
      </h2>
      {project.description !== null && project.description !== "" && (
        <p class="tm-project-text">{project.description}</p>
      )}
      <p class="tm-project-facts">
        <span>{figures === undefined ? "…" : counted(figures.total_runs, "run")}</span>
        {active > 0 && <Badge kind="info">{active} active</Badge>}
        <span class="tm-muted">
          created <Time at={project.created_at} />
        </span>
      </p>
    </li>
  );
}

function useFigures(projectId: string, card: { readonly current: HTMLElement | null }): Overview | undefined {
  const path = `/api/overview?project_id=${projectId}`;
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      setSeen(true);
    });
    if (card.current !== null) observer.observe(card.current);
    return () => observer.disconnect();
  }, []);
  // A card without figures still leads to its project.
  const { data } = useQuery<Answer>(isSeen ? path : undefined);
  return (data ?? lastAnswer<Answer>(path))?.overview;
}

/** How many runs of a project are running, without those that have not reported for a long time; 0 until it is known. */
function useActive(projectId: string, figures: Overview | undefined): number {
  const path = `/api/runs/summary?project_id=${projectId}&status=running&stale=false&projection=selection&limit=1`;
  const { data } = useQuery<{ readonly total: number }>((figures?.active_runs ?? 0) > 0 ? path : undefined);
  return data?.total ?? 0;
}
