import { Button } from '@mantine/core'

/** In the place of a part that could not be fetched: browsers ask for it again only together with the page. */
export function LoadFailure() {
  return (
    <div className="unfetched" role="alert">
      <Words />
    </div>
  )
}

/** In the place of a dialog. It has the focus, so that what is being typed goes nowhere else. */
export function UnfetchedDialog({ onClose }: { onClose(): void }) {
  return (
    <div
      className="unfetched"
      role="dialog"
      aria-modal="true"
      aria-label="This could not be opened"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <Words />
      <Button variant="subtle" autoFocus onClick={onClose}>
        Close
      </Button>
    </div>
  )
}

function Words() {
  return (
    <>
      <span>
        A part of this page could not be loaded, because Inlet did not respond. What you wrote is kept.
      </span>
      <Button variant="default" onClick={() => location.reload()}>
        Reload the page
      </Button>
    </>
  )
}
