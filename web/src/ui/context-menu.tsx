import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { focusable, MenuEntries, moveInMenu, type MenuItem } from "./menu-entries.tsx";

/** Where the user asked for a menu, in pixels of the window. */
export type MenuPlace = { readonly left: number; readonly top: number };

/** Pixels from the edge of the window. */
const GAP = 4;

/**
 * A menu of actions at a place, open from the start. Escape, Tab, a press elsewhere and scrolling close it; the focus returns to where it was.
 * It closes by hand: the press that opens it ends outside of it, which would close an automatic popover.
 */
export function ContextMenu({
  label,
  items,
  at,
  onClose,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly at: MenuPlace;
  readonly onClose: () => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement);
  const close = (): void => {
    onClose();
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true });
  };
  useLayoutEffect(() => {
    const popover = list.current!;
    popover.showPopover();
    const { width, height } = popover.getBoundingClientRect();
    const left = Math.max(GAP, Math.min(at.left, innerWidth - width - GAP));
    const top = Math.max(GAP, Math.min(at.top, innerHeight - height - GAP));
    Object.assign(popover.style, { top: `${top}px`, left: `${left}px` });
    focusable(popover)[0]?.focus();
  }, [at.left, at.top]);
  useEffect(() => {
    const leave = (event: Event): void => {
      if (!(event.target instanceof Node && list.current?.contains(event.target) === true)) onClose();
    };
    addEventListener("pointerdown", leave, true);
    addEventListener("scroll", leave, true);
    addEventListener("resize", leave);
    return () => {
      removeEventListener("pointerdown", leave, true);
      removeEventListener("scroll", leave, true);
      removeEventListener("resize", leave);
    };
  }, []);
  return (
    <div
      ref={list}
      popover="manual"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      class="tm-menu-list"
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === "Escape" || event.key === "Tab") {
          event.preventDefault();
          event.stopPropagation();
          close();
        } else moveInMenu(event, list.current);
      }}
    >
      <MenuEntries items={items} onClose={close} />
    </div>
  );
}
