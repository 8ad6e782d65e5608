import { projectPages } from "../pages/project/project-pages.ts";
import type { IconName } from "../ui/icon.tsx";
import { projectAddress, projectPageAddress, runAddress, trashAddress } from "./addresses.ts";
import type { PageAction } from "./keys.ts";
import type { ThemeChoice } from "./theme.ts";

/** One thing to go to or to do. */
export type PaletteEntry = {
  readonly id: string;
  readonly label: string;
  /** Its kind, in a word. */
  readonly kind: string;
  readonly icon: IconName;
  readonly address?: string;
  readonly run?: () => void;
};

/** A run as the search gives it. */
export type FoundRun = { readonly id: string; readonly name: string; readonly project: string };

/** Entries that are shown in addition to runs. */
const SHOWN_MAX = 20;

/** Returns the entries of what can be done on the page at the moment. */
export function pageEntries(actions: readonly PageAction[]): readonly PaletteEntry[] {
  return actions.map(({ label, icon, run }) => ({ id: `page ${label}`, label, kind: "Action", icon, run }));
}

/** Returns the entries of pages, and of actions that are possible everywhere. */
export function actionEntries(chooseTheme: (theme: ThemeChoice) => void): readonly PaletteEntry[] {
  const page = (label: string, icon: IconName, address: string): PaletteEntry => ({
    id: address,
    label,
    kind: "Page",
    icon,
    address,
  });
  const theme = (label: string, icon: IconName, choice: ThemeChoice): PaletteEntry => ({
    id: `theme ${choice}`,
    label,
    kind: "Action",
    icon,
    run: () => chooseTheme(choice),
  });
  return [
    page("All projects", "grid", "/"),
    page("Settings: API keys", "key", "/settings/keys"),
    page("Settings: members", "users", "/settings/members"),
    page("Settings: usage", "gauge", "/settings/usage"),
    page("Settings: audit log", "list", "/settings/audit"),
    page("Settings: trash", "trash", trashAddress()),
    page("Settings: imports", "upload", "/settings/imports"),
    page("Settings: sessions", "user", "/settings/sessions"),
    theme("Theme: dark", "moon", "dark"),
    theme("Theme: light", "sun", "light"),
    theme("Theme: system", "settings", "system"),
  ];
}

/** Returns the entries of the pages of a project. */
export function projectPageEntries(project: string): readonly PaletteEntry[] {
  return projectPages.map(({ id, label, icon }) => {
    const address = projectPageAddress(project, id);
    return { id: address, label, kind: "Page of the project", icon, address };
  });
}

/** Returns the entries of projects. */
export function projectEntries(
  projects: readonly { readonly id: string; readonly name: string }[],
): readonly PaletteEntry[] {
  return projects.map(({ id, name }) => ({
    id,
    label: name,
    kind: "Project",
    icon: "folder",
    address: projectAddress(name),
  }));
}

/** Returns the entries of runs that were found. */
export function runEntries(runs: readonly FoundRun[]): readonly PaletteEntry[] {
  return runs.map(({ id, name, project }) => ({
    id,
    label: name === "" ? id : name,
    kind: `Run in ${project}`,
    icon: "chart",
    address: runAddress(project, id),
  }));
}

/** Returns the entries whose label has all words of a text, those first that begin with it; without a text the first ones. */
export function rankEntries(entries: readonly PaletteEntry[], text: string): readonly PaletteEntry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries.flatMap((entry) => {
    const label = entry.label.toLowerCase();
    if (!words.every((word) => label.includes(word))) return [];
    return [{ entry, rank: label.startsWith(wanted) ? 0 : label.includes(` ${wanted}`) ? 1 : 2 }];
  });
  return found
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, SHOWN_MAX)
    .map(({ entry }) => entry);
}
