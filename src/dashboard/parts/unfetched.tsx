import { Button } from '@mantine/core'

/** In the place of a part that could not be fetched: browsers ask for it again only together with the page. */
export function Unfetched() {
  return (
    <div className="unfetched" role="alert">
      <span>Inlet did not answer when a part of this page was asked for. What you wrote is kept.</span>
      <Button variant="default" onClick={() => location.reload()}>
        Reload the page
      </Button>
    </div>
  )
}
