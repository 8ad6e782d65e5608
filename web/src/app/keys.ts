import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { IconName } from "../ui/icon.tsx";

/** The action of a shortcut; a `label` is shown in the help. A function that returns false lets the browser have the key. */
type KeyAction = Act | { readonly label: string; readonly run: Act };
type Act = (event: KeyboardEvent) => unknown;

/** What can be done on a page at the moment; the palette lists it. */
export type PageAction = { readonly label: string; readonly icon: IconName; readonly run: () => void };

/** Shortcuts of one part of the page. */
type KeyGroup = {
  readonly id: string;
  readonly label: string;
  /** By how they are written. */
  readonly keys: () => Readonly<Record<string, KeyAction>>;
  readonly actions: () => readonly PageAction[];
};

const groups = signal<readonly KeyGroup[]>([]);

/** The shortcuts of the visible parts, the page's own first. */
export const keyGroups: ReadonlySignal<readonly KeyGroup[]> = groups;

/** Returns what can be done on the page at the moment. */
export const pageActions = (): readonly PageAction[] => groups.value.flatMap(({ actions }) => actions());

/**
 * Adds shortcuts to a component while it is on screen: `{ j: next, "Shift+x": { label: "Select a range", run } }`. They are off while a person types
 * or a dialog is open; those with Ctrl work while typing too. The last added wins. `label` is the heading in the help, `actions` are added to the palette.
 */
export function useKeys(
  keys: Readonly<Record<string, KeyAction>>,
  { label, actions = NO_ACTIONS }: { readonly label: string; readonly actions?: readonly PageAction[] },
): void {
  const id = useId();
  const latest = useRef({ keys, actions });
  latest.current = { keys, actions };
  const names = Object.keys(keys).join(" ");
  useEffect(() => {
    // The actions may close over the current render, so they are looked up when they are called.
    groups.value = [
      ...groups.peek(),
      { id, label, keys: () => latest.current.keys, actions: () => latest.current.actions },
    ];
    return () => {
      groups.value = groups.peek().filter((group) => group.id !== id);
    };
  }, [id, label, names]);
}

const NO_ACTIONS: readonly PageAction[] = [];

/** Whether key presses go into a text. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range", "color"].includes(target.type);
}

/** Keys with which a focused control is used itself. */
const OF_CONTROLS = new Set(["Enter", "Space", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);

/** Begins to listen. Called once, by the start of the page. */
export function startKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]") !== null) return;
    const name = pressedName(event);
    if (isTyping(event.target) && !name.startsWith("Ctrl+")) return;
    // A text undoes its own changes.
    if (isTyping(event.target) && name === "Ctrl+z") return;
    if (
      OF_CONTROLS.has(name) &&
      event.target instanceof Element &&
      event.target.closest("a, button, [role=menu], [role=tab], input, summary") !== null
    )
      return;
    for (const group of groups.peek().toReversed()) {
      const keys = group.keys();
      const written = Object.keys(keys).find((key) => shortcutName(key) === name);
      const action = written === undefined ? undefined : keys[written];
      if (action === undefined) continue;
      const answer = typeof action === "function" ? action(event) : action.run(event);
      if (answer !== false) event.preventDefault();
      return;
    }
  });
}

/** The parts of a key press that its name is made from. */
type Pressed = {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
};

/**
 * Returns the name of a key press as shortcuts have it: `j`, `Shift+x`, `Ctrl+k`, `?`, `Enter`, `ArrowDown`. The command key of a Mac counts as
 * Ctrl. Shift is part of the name only with letters and named keys: where `?` is depends on the keyboard.
 */
export function pressedName({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  const isLetter = /^\p{L}$/u.test(key);
  const name = isLetter ? key.toLowerCase() : key === " " ? "Space" : key;
  const hasShift = shiftKey && (isLetter || name.length > 1);
  return [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", hasShift ? "Shift+" : "", name].join("");
}

/** Returns a shortcut as it was written in the form that `pressedName` has: letters in lower case, where `Shift` is not said otherwise. */
export function shortcutName(written: string): string {
  return written === "+"
    ? written
    : written.replace(/(^|\+)(\p{L})$/u, (_, before: string, letter: string) => before + letter.toLowerCase());
}
