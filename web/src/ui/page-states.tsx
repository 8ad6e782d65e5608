import type { ComponentChildren } from "preact";
import "./notes.css";
import { Icon, type IconName } from "./icon.tsx";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { faultOf } from "./fault.ts";

/** Shown in place of missing things: why they are missing, and what to do next. */
export function EmptyState({
  title,
  icon,
  children,
  actions,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class="tm-empty">
      {icon !== undefined && <Icon name={icon} size={28} />}
      <h2>{title}</h2>
      {children !== undefined && <div class="tm-empty-text">{children}</div>}
      {actions !== undefined && <div class="tm-empty-actions">{actions}</div>}
    </div>
  );
}

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
