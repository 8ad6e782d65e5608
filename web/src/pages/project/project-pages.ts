import type { IconName } from "../../ui/icon.tsx";

/**
 * The pages of a project in the order of its navigation: the id of the page, what links to it say, and its part of the address behind that of the
 * project. A page that is `late` has its styles in the sheet that only such pages load.
 */
export const projectPages = [
  { id: "project", label: "Runs", path: "", icon: "list", late: false },
  { id: "media", label: "Media", path: "media", icon: "image", late: true },
  { id: "traces", label: "Traces", path: "traces", icon: "clock", late: true },
  { id: "artifacts", label: "Artifacts", path: "artifacts", icon: "folder", late: true },
  { id: "reports", label: "Reports", path: "reports", icon: "report", late: false },
] as const satisfies readonly {
  readonly id: string;
  readonly label: string;
  readonly path: string;
  readonly icon: IconName;
  readonly late: boolean;
}[];

/** The id of a page of a project. */
export type ProjectPageId = (typeof projectPages)[number]["id"];
