import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
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

/**
 * A button that opens a menu of actions. Arrows, Home, End and first letters move in it; Escape and a press elsewhere close it.
 * `button` is given to the button, `label` names the menu (and the button, where it shows no text).
 */
export function Menu({
  label,
  items,
  button = {},
  align = "start",
  children,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly button?: Omit<ButtonProps, "children">;
  readonly align?: "start" | "end";
  /** The text of the button; without one it shows its icon alone. */
  readonly children?: ComponentChildren;
}) {
  const id = useId();
  const trigger = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const entries = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)") ?? []),
  ];
  const close = (): void => list.current?.hidePopover();

  // The entries are drawn once it is open, and only then can one have the focus and the place be known.
  useLayoutEffect(() => {
    if (!isOpen || list.current === null || trigger.current === null) return;
    placeBeside(list.current, trigger.current, align);
    entries()[0]?.focus();
  }, [isOpen]);

  const move = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const target = targetOf(event.key, all, at);
    if (event.key === "Tab") close();
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    target.focus();
  };

  return (
    <span class="tm-menu" ref={trigger}>
      <Button
        {...button}
        class={classes(button.class, children === undefined && "tm-icon-button")}
        {...(children === undefined ? { "aria-label": label, title: label } : {})}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popovertarget={id}
      >
        {children}
      </Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        class="tm-menu-list"
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={move}
      >
        {isOpen &&
          items.map((item, i) =>
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
                  close();
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
      </div>
    </span>
  );
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

/** Pixels between a part and the popup next to it, and from the edge of the window. */
const GAP = 4;

/** Places a popover below an element, or above it where there is more room, and within the window. */
function placeBeside(popover: HTMLElement, element: HTMLElement, align: "start" | "end" = "start"): void {
  const around = element.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const below = innerHeight - around.bottom;
  const top =
    below < height + GAP && around.top > below ? Math.max(GAP, around.top - height - GAP) : around.bottom + GAP;
  const wanted = align === "start" ? around.left : around.right - width;
  const left = Math.max(GAP, Math.min(wanted, innerWidth - width - GAP));
  Object.assign(popover.style, { top: `${top}px`, left: `${left}px` });
}
