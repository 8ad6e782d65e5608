export { isInstant, readCursor, writeCursor, type CursorField } from "./cursor.ts";
