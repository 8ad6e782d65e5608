import type { ViewState } from "../view/view-state.ts";

/** Lines of more runs than this are not drawn. */
export const LINES_MAX = 100;

/** Whether the lines of a run are shown: those of the first runs and of pinned ones are, unless a person said otherwise. */
export function isShown({ show, hide, pin, base, first }: ViewState, id: string, index: number | undefined): boolean {
  if (hide.includes(id)) return false;
  return show.includes(id) || pin.includes(id) || base === id || (index !== undefined && index < first);
}

/** Shows or hides runs. */
export function withShown(
  { show, hide }: Pick<ViewState, "show" | "hide">,
  ids: readonly string[],
  isOn: boolean,
): Pick<ViewState, "show" | "hide"> {
  const others = (list: readonly string[]): string[] => list.filter((id) => !ids.includes(id));
  return isOn
    ? { show: [...others(show), ...ids].slice(-LINES_MAX), hide: others(hide) }
    : { show: others(show), hide: [...others(hide), ...ids].slice(-LINES_MAX) };
}

/**
 * Returns what the eye of a group does: it hides the runs of the group that have lines; where none has, it shows the first ones, as many as can have
 * lines. `ids` are those of the group, the newest first.
 */
export function groupToggle(
  ids: readonly string[],
  shown: ReadonlySet<string>,
): { readonly ids: readonly string[]; readonly isOn: boolean } {
  const drawn = ids.filter((id) => shown.has(id));
  return drawn.length > 0 ? { ids: drawn, isOn: false } : { ids: ids.slice(0, LINES_MAX), isOn: true };
}

/** Adds an id to a list, or takes it out. */
export const toggled = (list: readonly string[], id: string): readonly string[] =>
  list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
