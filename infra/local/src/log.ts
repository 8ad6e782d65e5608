/** Takes one line, without its line end, for whoever watches the start. */
export type Log = (line: string) => void;
