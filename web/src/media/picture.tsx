import { useState } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";

/** A picture that a press enlarges. */
export function Picture({
  address,
  label,
  name,
}: {
  readonly address: string;
  /** Names it for people who do not see it. */
  readonly label: string;
  /** The name of its file; undefined: it is not a file. */
  readonly name?: string | undefined;
}) {
  const [isLarge, setLarge] = useState(false);
  return (
    <>
      <button type="button" class="tm-picture" aria-label={`Enlarge ${label}`} onClick={() => setLarge(true)}>
        <img key={address} src={address} alt={label} loading="lazy" />
      </button>
      {isLarge && (
        <Dialog title={label} wide onClose={() => setLarge(false)}>
          <img class="tm-picture-large" src={address} alt={label} />
          {name !== undefined && (
            <p>
              <a href={address} download={name}>
                Download {name}
              </a>
            </p>
          )}
        </Dialog>
      )}
    </>
  );
}
