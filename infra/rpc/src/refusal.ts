/** Header of an answer that says: no handler has seen this request, send it again elsewhere. */
export const refusedHeader = "tidemark-refused";
