import { useEffect } from "preact/hooks";

/** Gives the page its title, the narrowest part first. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, "Tidemark"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
