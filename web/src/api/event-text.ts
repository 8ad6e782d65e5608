/** One event of a stream (`text/event-stream`), or a comment that only moved the id. */
export type ServerEvent = { readonly name: string; readonly data: string; readonly id: string | undefined };

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
