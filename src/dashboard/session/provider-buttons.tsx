import { Button } from '@mantine/core'
import type { Schema } from '../api/client.ts'

interface ProviderButtonsProps {
  providers: Schema<'SignInWays'>['providers']
  /** The path to open afterwards. */
  returnTo: string
}

/** Links to the identity providers, which leave this page. */
export const ProviderButtons = ({ providers, returnTo }: ProviderButtonsProps) => (
  <div className="stack">
    {providers.map(({ id, name }) => (
      <Button
        key={id}
        component="a"
        href={`/auth/${id}?returnTo=${encodeURIComponent(returnTo)}`}
        size="md"
        fullWidth
      >
        Continue with {name}
      </Button>
    ))}
  </div>
)
