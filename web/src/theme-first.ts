// Runs before anything is drawn, so that no page flashes in the other theme. The rest is in `app/theme.ts`.
let chosen: string | null = null;
try {
  chosen = localStorage.getItem("tidemark-theme");
} catch {
  // Nothing is stored in this browser.
}
const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset["theme"] = isDark ? "dark" : "light";

export {};
