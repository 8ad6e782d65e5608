// What shows many runs: one part of the bundle, because whoever sees one of these pages goes on to the others.
import "./shared-chunk.ts";
export { ComparePage } from "./compare/compare-page.tsx";
export { ProjectPage } from "./project/project-page.tsx";
export { ProjectsPage } from "./projects/projects-page.tsx";
