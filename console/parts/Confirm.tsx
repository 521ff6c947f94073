/** A dialog that says what goes before it is gone. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { Problem } from "../client.ts"
import { ProblemNote } from "./ProblemNote.tsx"

export const Confirm = ({
  title,
  action,
  isBusy,
  problem,
  onConfirm,
  onClose,
  children
}: {
  readonly title: string
  /** What the button does: "Delete rule". */
  readonly action: string
  readonly isBusy: boolean
  readonly problem?: Problem | undefined
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
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </dialog>
  )
}
