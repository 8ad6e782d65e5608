import { EmptyState } from "../ui/page-states.tsx";
import { Link, useTitle } from "./location.tsx";

/** The page for an address that leads nowhere. */
export function MissingPage({ what = "page" }: { readonly what?: string }) {
  useTitle("Not found");
  return (
    <div class="tm-page">
      <h1 class="tm-hidden">Not found</h1>
      <EmptyState
        icon="help"
        title={`There is no such ${what}`}
        actions={
          <Link class="tm-button tm-button-primary" href="/">
            Go to the projects
          </Link>
        }
      >
        <p>The address is wrong, it was deleted, or you may not see it.</p>
      </EmptyState>
    </div>
  );
}
