import { classes } from "./class-names.ts";
import { Icon, type IconName } from "./icon.tsx";
import "./menu.css";

/** One entry of a menu, or a line between two groups of them. */
export type MenuItem =
  | {
      readonly label: string;
      readonly icon?: IconName;
      readonly onSelect: () => void;
      readonly danger?: boolean;
      readonly disabled?: boolean;
      /** Makes it a switch that is on or off. */
      readonly checked?: boolean;
      /** A shortcut, or another short word at the end of the entry. */
      readonly hint?: string | undefined;
    }
  | "line";

/** The entries of an open menu. `onClose` is called before an entry acts. */
export function MenuEntries({ items, onClose }: { readonly items: readonly MenuItem[]; readonly onClose: () => void }) {
  return (
    <>
      {items.map((item, i) =>
        item === "line" ? (
          <hr key={i} class="tm-menu-line" />
        ) : (
          <button
            key={i}
            type="button"
            role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"}
            aria-checked={item.checked}
            disabled={item.disabled}
            tabIndex={-1}
            class={classes("tm-menu-item", item.danger === true && "tm-menu-danger")}
            onClick={() => {
              onClose();
              item.onSelect();
            }}
          >
            {item.icon !== undefined && <Icon name={item.icon} />}
            <span class="tm-menu-label">{item.label}</span>
            {item.checked === true && <Icon name="check" />}
            {item.hint !== undefined && <kbd>{item.hint}</kbd>}
          </button>
        ),
      )}
    </>
  );
}

/** Returns the entries of a menu that can have the focus. */
export const focusable = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)") ?? []),
];

/** Moves the focus in a menu by arrows, Home, End and first letters. */
export function moveInMenu(event: KeyboardEvent, list: HTMLElement | null): void {
  const all = focusable(list);
  const target = targetOf(event.key, all, all.indexOf(document.activeElement as HTMLElement));
  if (target === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  target.focus();
}

function targetOf(key: string, all: readonly HTMLElement[], at: number): HTMLElement | undefined {
  if (key === "ArrowDown") return all[(at + 1) % all.length];
  if (key === "ArrowUp") return all[(at - 1 + all.length) % all.length];
  if (key === "Home") return all[0];
  if (key === "End") return all.at(-1);
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find((entry) =>
    entry.textContent.trim().toLowerCase().startsWith(letter),
  );
}
