import { useEffect, useState } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { ErrorNote } from "../ui/page-states.tsx";
import { counted } from "../ui/words.ts";
import { Spinner } from "../ui/spinner.tsx";
import { plainText } from "./ansi.ts";
import type { LogSource } from "./log-source.ts";
import { markText } from "./mark-text.ts";
import type { LogLine } from "./log-windows.ts";

/** Lines that are found at a time, and requests for them: one looks at a few thousand lines. */
const FOUND_MAX = 250;
const REQUESTS_MAX = 40;

type Found = { readonly lines: readonly LogLine[]; readonly next: string | undefined; readonly isOver: boolean };

/** The lines of a stream that contain a text; one of them can be shown among its neighbors. */
export function LogSearch({
  source,
  text,
  onShow,
  onClose,
}: {
  readonly source: LogSource;
  readonly text: string;
  readonly onShow: (line: LogLine) => void;
  readonly onClose: () => void;
}) {
  const [found, setFound] = useState<Found>({ lines: [], next: undefined, isOver: false });
  const [error, setError] = useState<unknown>();
  const [from, setFrom] = useState("");
  useEffect(() => {
    setFound({ lines: [], next: undefined, isOver: false });
    setFrom("");
  }, [source, text]);
  useEffect(() => {
    const ending = new AbortController();
    const look = async (): Promise<void> => {
      let next: string | undefined = from;
      let count = 0;
      setError(undefined);
      try {
        for (let i = 0; i < REQUESTS_MAX && next !== undefined && count < FOUND_MAX; i += 1) {
          const page: Awaited<ReturnType<LogSource["search"]>> = await source.search(text, next, ending.signal);
          ({ next } = page);
          count += page.lines.length;
          setFound((before) => ({ lines: [...before.lines, ...page.lines], next, isOver: false }));
        }
        setFound((before) => ({ ...before, isOver: true }));
      } catch (fault) {
        if (!ending.signal.aborted) setError(fault);
      }
    };
    const timer = setTimeout(() => void look(), 200);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [source, text, from]);
  const { lines, next, isOver } = found;
  return (
    <section class="tm-log-found" aria-label="Lines found">
      <header>
        <p role="status">
          {!isOver && error === undefined && <Spinner />} {counted(lines.length, "line")}{" "}
          {isOver && next === undefined ? "found" : "found so far"}
        </p>
        {isOver && next !== undefined && (
          <Button size="s" onClick={() => setFrom(next)}>
            Continue search
          </Button>
        )}
        <IconButton icon="close" label="Close the search" size="s" onClick={onClose} />
      </header>
      <ErrorNote error={error} />
      <ol>
        {lines.map((line, i) => (
          <li key={`${line.number}/${i}`}>
            <button type="button" onClick={() => onShow(line)}>
              <span class="tm-log-number">{line.own?.number ?? line.number}</span>
              {line.own?.stream === "stderr" && <span class="tm-log-of">stderr</span>}
              <span class="tm-log-text">
                {markText(plainText(line.text).slice(0, 400), text).map(({ text: part, isHit }, at) =>
                  isHit ? <mark key={at}>{part}</mark> : part,
                )}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
