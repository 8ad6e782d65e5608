import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
import { classes } from "./class-names.ts";
import { focusable, MenuEntries, moveInMenu, type MenuItem } from "./menu-entries.tsx";

export type { MenuItem } from "./menu-entries.tsx";

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
  const close = (): void => list.current?.hidePopover();

  // The entries are drawn once it is open, and only then can one have the focus and the place be known.
  useLayoutEffect(() => {
    if (!isOpen || list.current === null || trigger.current === null) return;
    placeBeside(list.current, trigger.current, align);
    focusable(list.current)[0]?.focus();
  }, [isOpen]);

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
        onKeyDown={(event) => {
          if (event.key === "Tab") close();
          moveInMenu(event, list.current);
        }}
      >
        {isOpen && <MenuEntries items={items} onClose={close} />}
      </div>
    </span>
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
