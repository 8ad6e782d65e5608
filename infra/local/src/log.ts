/** Takes one line, without its line end, for the person who watches the start. */
export type Log = (line: string) => void;
