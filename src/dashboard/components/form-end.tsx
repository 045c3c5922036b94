import { Button } from '@mantine/core'
import { ErrorText } from './error-text.tsx'
import type { FormDraft } from './use-form-draft.ts'

interface FormEndProps {
  draft: Pick<FormDraft<unknown>, 'isDraft' | 'isOutdated' | 'discard'>
  /** On the button that saves. */
  verb: string
  error: string | undefined
  isBusy: boolean
  isDisabled?: boolean
  /** Without it, there is nothing to close: the form is part of a page. */
  onClose?(): void
}

/** The end of a form, which keeps a draft until that is saved or discarded. */
export function FormEnd({ draft, verb, error, isBusy, isDisabled = false, onClose }: FormEndProps) {
  const outdated =
    draft.isOutdated && 'Someone else changed the same fields. Saving overwrites what they entered.'
  return (
    <>
      {(error || outdated) && <ErrorText>{error || outdated}</ErrorText>}
      <div className="row">
        <Button type="submit" loading={isBusy} disabled={isDisabled}>
          {verb}
        </Button>
        {(draft.isDraft || onClose) && (
          <Button
            variant="default"
            onClick={() => {
              draft.discard()
              onClose?.()
            }}
          >
            {draft.isDraft ? 'Discard' : 'Cancel'}
          </Button>
        )}
      </div>
    </>
  )
}
