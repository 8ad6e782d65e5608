import type { PagedRows } from "../api/use-pages.ts";
import { Button } from "../ui/button.tsx";
import { counted, countWords } from "../ui/words.ts";

/** How much of a list is shown, and a button for the next page; nothing where all of it is. */
export function MoreRows<Row>({ of, word }: { readonly of: PagedRows<Row>; readonly word: string }) {
  if (of.rows === undefined || !of.hasMore) return null;
  return (
    <p class="tm-tools">
      <span class="tm-muted" role="status">{`${countWords(of.rows.length)} of ${counted(of.total, word)}`}</span>
      <Button size="s" busy={of.isLoading} onClick={of.more}>
        Show more
      </Button>
    </p>
  );
}
