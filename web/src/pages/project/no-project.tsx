import { EmptyState } from "../../ui/page-states.tsx";

/** Shown on the pages of a project that does not exist. */
export function NoProject() {
  return (
    <EmptyState title="Project not found" icon="search">
      It may have been deleted, or it belongs to another organization. <a href="/">Show all projects</a>
    </EmptyState>
  );
}
