import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";
import { faultOf } from "./fault.ts";
import "./notes.css";

/** What went wrong, as a sentence, with a way to try again where there is one. Shows nothing while `error` is undefined. */
export function ErrorNote({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  if (error === undefined || error === null) return null;
  const { text, requestId } = faultOf(error);
  return (
    <div class="tm-error-note" role="alert">
      <Icon name="warning" />
      <p>
        {text}
        {requestId !== undefined && (
          <span class="tm-error-request">
            Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the id of the request" />
          </span>
        )}
      </p>
      {onRetry !== undefined && (
        <Button size="s" icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
