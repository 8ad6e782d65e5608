import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { ApiError } from "../../../api/client.ts";
import { Icon } from "../../../ui/icon.tsx";
import { classes } from "../../../ui/class-names.ts";
import { sentence } from "../../../ui/fault.ts";
import { useIsNarrow } from "../../../ui/use-width.ts";
import { suggest, taken, type Suggestion } from "./suggestions.ts";

/** The search for runs. Suggests keys and words; parts that the server does not understand are marked under their column. */
export function QueryBox({
  value,
  onInput,
  keys,
  error,
  onTyped,
  children,
}: {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly keys: readonly string[];
  readonly error: unknown;
  /** The word that the caret is in, for which keys may be looked up. */
  readonly onTyped: (text: string) => void;
  /** What is said of the search, in addition to a fault. */
  readonly children?: ComponentChildren;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const isNarrow = useIsNarrow();
  const choices = isOpen ? suggest(value, caret, keys) : [];
  const fault = error instanceof ApiError && error.code?.startsWith("run_search") === true ? error : undefined;
  const take = (choice: Suggestion): void => {
    const next = taken(value, choice);
    onInput(next.query);
    setAt(-1);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(next.caret, next.caret);
      setCaret(next.caret);
    });
  };
  return (
    <div class="tm-query">
      <div class="tm-query-line">
        <Icon name="search" />
        <input
          ref={input}
          class="tm-input tm-mono tm-query-input"
          type="text"
          role="combobox"
          aria-label="Search runs"
          aria-expanded={choices.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={at >= 0 && at < choices.length ? `${id}-${at}` : undefined}
          aria-invalid={fault !== undefined || undefined}
          aria-describedby={fault === undefined ? undefined : `${id}-fault`}
          autocomplete="off"
          spellcheck={false}
          placeholder={
            isNarrow ? "Search runs" : "Search runs: name, status:failed, config.lr<0.1, metrics.loss.best<=0.2"
          }
          value={value}
          onInput={(event) => {
            onInput(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart ?? 0);
            onTyped(event.currentTarget.value);
            setOpen(true);
            setAt(-1);
          }}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              if (choices.length > 0) setOpen(false);
              else event.currentTarget.blur();
            } else if (choices.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
              event.preventDefault();
              setAt((before) => (before + (event.key === "ArrowDown" ? 1 : -1) + choices.length) % choices.length);
            } else if (event.key === "Enter" || event.key === "Tab") {
              const choice = choices[at];
              if (choice === undefined) return setOpen(false);
              event.preventDefault();
              take(choice);
            }
          }}
        />
      </div>
      <ul
        id={`${id}-list`}
        class={classes("tm-suggestions", choices.length === 0 && "tm-gone")}
        role="listbox"
        aria-label="Suggestions"
      >
        {choices.map((choice, i) => (
          <li
            key={choice.text}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === at}
            onPointerDown={(event) => {
              event.preventDefault();
              take(choice);
            }}
          >
            <code>{choice.text}</code> <span class="tm-muted">{choice.hint}</span>
          </li>
        ))}
      </ul>
      {fault !== undefined && (
        <div id={`${id}-fault`} class="tm-query-fault" role="alert">
          {fault.position !== undefined && (
            <pre aria-hidden="true" data-column={fault.position}>
              {`${value}\n${" ".repeat(Math.max(0, fault.position - 1))}^`}
            </pre>
          )}
          <p>{sentence(fault.message)}</p>
        </div>
      )}
      <div class="tm-query-hints" role="status">
        {children}
      </div>
    </div>
  );
}
