// Pages that show many runs: one part of the bundle, because users of one of these pages go on to the others.
import "./shared-chunk.ts";
export { ComparePage } from "./compare/compare-page.tsx";
export { ProjectPage } from "./project/project-page.tsx";
export { ProjectsPage } from "./projects/projects-page.tsx";
