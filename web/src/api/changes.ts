import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { ApiError, areRequestsHeld, send } from "./client.ts";

/** What changed in a project. `reset`: anything may have changed, so read everything shown again. */
type ProjectChange = {
  readonly kind: "run" | "points" | "lines" | "objects" | "stop" | "reset";
  readonly run_id?: string;
  readonly keys?: readonly string[];
  readonly step?: number;
  readonly line?: number;
};

/** The state of the page's stream of changes. */
type Connection = "live" | "connecting" | "down";

type Stream = {
  readonly listeners: Set<(change: ProjectChange) => void>;
  readonly state: ReturnType<typeof signal<Connection>>;
  readonly end: () => void;
};

/** Milliseconds before another attempt: doubled with each one that fails, up to the second. */
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 30_000;
/** A stream that says nothing for three of the server's comments is dead. */
const SILENCE_MS = 45_000;

const streams = signal<ReadonlyMap<string, Stream>>(new Map());

/** The page's connection to the server: the worst of its streams, `live` if it watches nothing. */
export const connection: ReadonlySignal<Connection> = computed(() => {
  const states = [...streams.value.values()].map(({ state }) => state.value);
  return states.find((state) => state === "down") ?? states.find((state) => state === "connecting") ?? "live";
});

/**
 * Calls `listener` with changes in a project until the returned function is called. All listeners of a project share one stream; it is
 * closed while the page is hidden, continues where it was afterwards, and reconnects by itself after a loss.
 */
export function watchProject(projectId: string, listener: (change: ProjectChange) => void): () => void {
  let stream = streams.peek().get(projectId);
  if (stream === undefined) {
    stream = openStream(projectId);
    streams.value = new Map(streams.peek()).set(projectId, stream);
  }
  const { listeners, end } = stream;
  // Its own, so that one function may listen twice.
  const own = (change: ProjectChange): void => listener(change);
  listeners.add(own);
  return () => {
    listeners.delete(own);
    if (listeners.size > 0 || streams.peek().get(projectId) !== stream) return;
    const others = new Map(streams.peek());
    others.delete(projectId);
    streams.value = others;
    end();
  };
}

function openStream(projectId: string): Stream {
  const listeners = new Set<(change: ProjectChange) => void>();
  const state = signal<Connection>("connecting");
  const notify = (change: ProjectChange): void => {
    for (const listener of listeners) listener(change);
  };
  let attempt: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId: string | undefined;
  let pauseMs = PAUSE_MS;

  const read = async (own: AbortController): Promise<void> => {
    // A stream that waits for a sign-in is not dead.
    const watchdog = createWatchdog(() => (areRequestsHeld() ? watchdog.heard() : own.abort()));
    try {
      const headers = { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
      watchdog.heard();
      const response = await send(`/api/projects/${projectId}/changes`, { headers, signal: own.signal });
      state.value = "live";
      // A stream without an id begins now: what changed after the page was read, or since the last stream, is not in it.
      if (lastId === undefined) notify({ kind: "reset" });
      const events = createEventReader();
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        watchdog.heard();
        pauseMs = PAUSE_MS;
        for (const { name, data, id } of events(value)) {
          lastId = id ?? lastId;
          if (data !== "") notify({ ...(JSON.parse(data) as object), kind: name } as ProjectChange);
        }
      }
    } finally {
      watchdog.end();
    }
  };

  const begin = (): void => {
    clearTimeout(timer);
    if (attempt !== undefined || document.hidden) return;
    const own = new AbortController();
    attempt = own;
    read(own).then(
      () => retryLater(own, "connecting"),
      (error: unknown) => {
        // The project is gone, or the session has ended: asking again would change nothing.
        const isOver = error instanceof ApiError && [401, 403, 404].includes(error.status);
        if (isOver && attempt === own) notify({ kind: "reset" });
        retryLater(own, isOver ? "live" : "down", isOver);
      },
    );
  };
  const retryLater = (own: AbortController, next: Connection, isOver = false): void => {
    if (attempt !== own) return;
    attempt = undefined;
    state.value = next;
    if (isOver) return;
    timer = setTimeout(begin, pauseMs * (0.75 + Math.random() / 2));
    pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
  };
  const stop = (): void => {
    clearTimeout(timer);
    const own = attempt;
    attempt = undefined;
    own?.abort();
  };
  const onVisibility = (): void => (document.hidden ? stop() : begin());
  const onOnline = (): void => {
    pauseMs = PAUSE_MS;
    begin();
  };
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", onOnline);
  begin();
  return {
    listeners,
    state,
    end: () => {
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("online", onOnline);
      stop();
    },
  };
}

/** Calls `onSilence` when nothing was heard for long. */
function createWatchdog(onSilence: () => void): { readonly heard: () => void; readonly end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  return {
    heard: () => {
      end();
      timer = setTimeout(onSilence, SILENCE_MS);
    },
    end,
  };
}

/** One event of a stream (`text/event-stream`), or a comment that only moved the id. */
type ServerEvent = { readonly name: string; readonly data: string; readonly id: string | undefined };

/** Reads a stream of events piece by piece, wherever the pieces end. Blocks without data are returned too, because they may move the id. */
export function createEventReader(): (piece: string) => readonly ServerEvent[] {
  let unread = "";
  return (piece) => {
    const blocks = (unread + piece).replaceAll("\r\n", "\n").split("\n\n");
    unread = blocks.pop() ?? "";
    return blocks.map(eventOf).filter((event) => event.data !== "" || event.id !== undefined);
  };
}

function eventOf(block: string): ServerEvent {
  let name = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return { name, data: data.join("\n"), id };
}
