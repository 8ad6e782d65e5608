import type { ComponentProps } from "preact";
import { navigate } from "./location.ts";

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
