/** Rows of a page of a long list, which one request reads. Apart from what loads pages: every page of the dashboard needs it, to read ahead. */
export const PAGE_ROWS = 100;
