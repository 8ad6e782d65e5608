import { html, svg } from "./elements.ts";
import { strokeOf } from "./stroke.ts";
import type { ShownRun } from "./view.ts";

/**
 * Makes the list of runs, which is the legend of all charts. `point` is called with the place of the run that the reader points at or has chosen; undefined:
 * none.
 */
export function createRunList(runs: readonly ShownRun[], point: (place: number | undefined) => void): HTMLElement {
  let chosen: number | undefined;
  const buttons = runs.map(({ name, status }, place) => {
    const { color, dash } = strokeOf(place);
    const sample = svg("line", { class: `line c${color}`, x1: 2, x2: 34, y1: 6, y2: 6, "stroke-dasharray": dash });
    const button = html(
      "button",
      { type: "button", class: "run", "aria-pressed": "false", title: name },
      svg("svg", { width: 36, height: 12, "aria-hidden": "true" }, sample),
      html("span", { class: "name" }, name),
      html("span", { class: "status" }, status),
    );
    button.addEventListener("pointerenter", () => point(place));
    button.addEventListener("pointerleave", () => point(chosen));
    button.addEventListener("click", () => {
      chosen = chosen === place ? undefined : place;
      buttons.forEach((one, i) => one.setAttribute("aria-pressed", String(i === chosen)));
      point(chosen);
    });
    return button;
  });
  return html("ol", { "aria-label": "Runs" }, ...buttons.map((button) => html("li", {}, button)));
}
