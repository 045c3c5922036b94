import { Badge } from '@mantine/core'

/** Marks in a list what fails. */
export const FailingBadge = () => (
  <Badge color="red" variant="dot">
    Failing
  </Badge>
)
