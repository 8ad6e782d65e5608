import { signal, type ReadonlySignal } from "@preact/signals";
import type { ThemeName } from "../look/palette.ts";
import type { Inks } from "../scene/scene.ts";

/** Colors of the page as canvases take them. */
export type PageInks = Inks & { readonly theme: ThemeName; readonly accent: string };

const FORCED = "(forced-colors: active)";

function read(): PageInks {
  const root = document.documentElement;
  const isForced = matchMedia(FORCED).matches;
  if (isForced) {
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return { theme, surface: "Canvas", ink: "CanvasText", faint: "CanvasText", rule: "GrayText", accent: "Highlight" };
  }
  const style = getComputedStyle(root);
  const value = (name: string): string => style.getPropertyValue(name).trim() || "#808080";
  return {
    theme: root.dataset["theme"] === "dark" ? "dark" : "light",
    surface: value("--surface"),
    ink: value("--ink"),
    faint: value("--ink-3"),
    rule: value("--line"),
    accent: value("--accent"),
  };
}

const inks = signal<PageInks>(read());
const renew = (): void => {
  inks.value = read();
};
new MutationObserver(renew).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
for (const query of [FORCED, "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", renew);
// Style sheets may load after this code.
addEventListener("load", renew);

/** The colors of the page, which follow its theme. */
export const pageInks: ReadonlySignal<PageInks> = inks;
