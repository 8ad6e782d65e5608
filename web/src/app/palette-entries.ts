import type { IconName } from "../ui/icon.tsx";
import { projectAddress, runAddress, trashAddress } from "./addresses.ts";

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
const SHOWN_MAX = 12;

/** Returns the entries of pages and actions. */
export function actionEntries(toggleTheme: () => void): readonly PaletteEntry[] {
  const page = (label: string, icon: IconName, address: string): PaletteEntry => ({
    id: address,
    label,
    kind: "Page",
    icon,
    address,
  });
  return [
    page("All projects", "grid", "/"),
    page("API keys", "key", "/settings/keys"),
    page("Members", "users", "/settings/members"),
    page("Usage", "gauge", "/settings/usage"),
    page("Audit log", "list", "/settings/audit"),
    page("Imports", "upload", "/settings/imports"),
    page("Trash", "trash", trashAddress()),
    { id: "theme", label: "Toggle the theme", kind: "Action", icon: "moon", run: toggleTheme },
  ];
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
