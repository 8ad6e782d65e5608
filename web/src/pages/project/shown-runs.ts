import type { ViewState } from "./view-state.ts";

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

/** Adds an id to a list, or takes it out. */
export const toggled = (list: readonly string[], id: string): readonly string[] =>
  list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
