const runLists = "src/pages/run-lists.ts";
const reports = "src/pages/report-pages.ts";
const authPages = "src/pages/auth-pages.ts";

/** The module that contains each page; a first view needs its parts in addition to the start. The router imports them when they are shown. */
export const pageModules = {
  projects: runLists,
  project: runLists,
  compare: runLists,
  run: "src/pages/run/run-page.tsx",
  reports,
  report: reports,
  "shared-report": reports,
  settings: "src/pages/settings/settings-page.tsx",
  signin: authPages,
  device: authPages,
  invite: authPages,
} as const;
