import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";

/** The user's choice; `system` follows the device. */
export type ThemeChoice = "light" | "dark" | "system";

/** Where the choice is stored; `web/src/theme-first.ts` reads it before anything is drawn. */
const STORED = "tidemark-theme";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemIsDark.value = dark.matches;
});

const choice = signal<ThemeChoice>(storedChoice());

/** The chosen theme. */
export const themeChoice: ReadonlySignal<ThemeChoice> = choice;

/** The theme that is shown. Canvases read it to redraw. */
export const theme: ReadonlySignal<"light" | "dark"> = computed(() => {
  if (choice.value !== "system") return choice.value;
  return systemIsDark.value ? "dark" : "light";
});

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});

/** Chooses a theme, for this browser. */
export function chooseTheme(next: ThemeChoice): void {
  choice.value = next;
  try {
    if (next === "system") localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, next);
  } catch {
    // A browser that stores nothing keeps it until it is closed.
  }
}

/** Goes to the other theme. */
export function toggleTheme(): void {
  chooseTheme(theme.peek() === "dark" ? "light" : "dark");
}

function storedChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    // This browser stores nothing.
    return "system";
  }
}
