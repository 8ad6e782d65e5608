import { useEffect, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { counted } from "../ui/words.ts";
import type { LogSource } from "./log-source.ts";

/** Says whether the other stream of a console has a text as well, and shows it there. Looks at the first lines that are found. */
export function LogElsewhere({
  source,
  name,
  text,
  onShow,
}: {
  readonly source: LogSource;
  /** The name of the other stream. */
  readonly name: string;
  readonly text: string;
  readonly onShow: () => void;
}) {
  const [found, setFound] = useState<{ readonly count: number; readonly hasMore: boolean }>();
  useEffect(() => {
    setFound(undefined);
    const ending = new AbortController();
    const look = (): void =>
      void source.search(text, "", ending.signal).then(
        ({ lines, next }) => setFound({ count: lines.length, hasMore: next !== undefined }),
        // The search of what is shown says what is wrong.
        () => undefined,
      );
    const timer = setTimeout(look, 200);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [source, text]);
  if (found === undefined || (found.count === 0 && !found.hasMore)) return null;
  return (
    <p class="tm-log-elsewhere">
      {`${found.hasMore ? "At least " : ""}${counted(found.count, "line")} of ${name} ${found.count === 1 ? "matches" : "match"} too.`}{" "}
      <Button size="s" onClick={onShow}>{`Show ${name}`}</Button>
    </p>
  );
}
