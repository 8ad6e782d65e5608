import { Fragment } from "preact";

/** A name that is broken behind its points, slashes, dashes and underscores, and within a word only where there is no room for it. */
export function Breakable({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(?<=[./_-])/).map((part, i) => (
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}
