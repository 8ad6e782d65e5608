import { useEffect, useState } from "preact/hooks";

const narrow = matchMedia("(max-width: 760px)");

/** Whether the window is too narrow for two panes. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const read = (): void => setNarrow(narrow.matches);
    narrow.addEventListener("change", read);
    return () => narrow.removeEventListener("change", read);
  }, []);
  return isNarrow;
}
