/** Rows of a page of a long list, which one request reads. */
export const PAGE_ROWS = 100;
