import { signal, type ReadonlySignal } from "@preact/signals";
import type { ComponentProps } from "preact";
import { useEffect } from "preact/hooks";
import { addressOf, pathOf } from "../api/base-path.ts";

/** Where the page is: the path and the query of its address, which together hold its whole state. */
type Location = { readonly path: string; readonly query: URLSearchParams };

const read = (): Location => ({ path: pathOf(location.pathname), query: new URLSearchParams(location.search) });
const current = signal<Location>(read());

addEventListener("popstate", () => {
  current.value = read();
});

/** The address of the page, which changes with it. */
export const currentLocation: ReadonlySignal<Location> = current;

/** Goes to an address of the dashboard: a path, with a query if it has one. `replace` leaves no entry in the history. */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(undefined, "", addressOf(address));
  else history.pushState(undefined, "", addressOf(address));
  current.value = read();
}

/**
 * Changes some names of the query and keeps the others; `undefined` and an empty text remove one. Typing and dragging `replace`
 * the entry of the history, so that going back leads to where a person was before and not through every letter.
 */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  options: { readonly replace?: boolean } = {},
): void {
  navigate(addressWith(changes), options);
}

/** Returns the address of the page with some names of the query changed, as `setQuery` does. */
export function addressWith(changes: Readonly<Record<string, string | undefined>>): string {
  const { path, query } = current.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A link within the dashboard, which the browser follows itself only into another tab or window. */
export function Link({
  href,
  replace = false,
  onClick,
  ...attributes
}: Omit<ComponentProps<"a">, "href" | "role"> & { readonly href: string; readonly replace?: boolean }) {
  return (
    <a
      {...attributes}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
        if (event.defaultPrevented || isElsewhere) return;
        event.preventDefault();
        navigate(href, { replace });
      }}
    />
  );
}

/** Gives the page its title, the narrowest part first. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, "Tidemark"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
