/** The module of each page, whose parts a first view of it needs besides the start. The router imports them when they are shown. */
export const pageModules = {
  projects: "src/pages/projects/projects-page.tsx",
  signin: "src/pages/sign-in/sign-in-page.tsx",
  device: "src/pages/device/device-page.tsx",
  invite: "src/pages/invite/invite-page.tsx",
  settings: "src/pages/settings/settings-page.tsx",
  project: "src/pages/project/project-page.tsx",
  compare: "src/pages/compare/compare-page.tsx",
  run: "src/pages/run/run-page.tsx",
  reports: "src/pages/reports/reports-page.tsx",
  report: "src/pages/reports/report-page.tsx",
  "shared-report": "src/pages/reports/shared-report-page.tsx",
} as const;
