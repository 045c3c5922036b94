import { Button } from '@mantine/core'
import { Link } from '../navigation/link.tsx'

/** What to do next where nothing has come in yet. */
export const AddSource = () => (
  <Button renderRoot={(props) => <Link to="/settings/sources" search={{ source: 'new' }} {...props} />}>
    Add a source
  </Button>
)
