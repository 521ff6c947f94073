/** A dialog that says what goes before it is gone. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { problemOf } from "../client.ts"
import { ProblemNote } from "./ProblemNote.tsx"

export const Confirm = ({
  title,
  action,
  change,
  onConfirm,
  onClose,
  children
}: {
  readonly title: string
  /** What the button does: "Delete rule". */
  readonly action: string
  readonly change: { readonly isPending: boolean; readonly error: unknown }
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{title}</h2>
      {children}
      {change.error !== null && <ProblemNote problem={problemOf(change.error)} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={change.isPending} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </dialog>
  )
}
