import { Badge, Button, Menu, Switch } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf, responseOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import type { IdentityProvider } from '../api/provider-queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { RowMenu } from './row-menu.tsx'
import { Row } from './rows.tsx'

interface ProviderItemProps {
  provider: IdentityProvider
  onEdit(): void
  onTest(): void
}

export function ProviderItem({ provider, onEdit, onTest }: ProviderItemProps) {
  const { id, name, issuer, isActive, createUsers, redirectUrl, createdAt } = provider
  const { mutate, refresh, isBusy } = useMutation('identity-providers', 'sign-in', 'status')
  const [deleting, setDeleting] = useState<Deleting>()
  const params = { path: { id } }
  const isOfEnvironment = createdAt === null

  const toggle = () =>
    mutate("Couldn't change the provider", () =>
      dataOf(api.PATCH('/api/identity-providers/{id}', { params, body: { isActive: !isActive } })),
    )

  return (
    <>
      <Row
        name={name}
        isOff={!isActive}
        beside={isOfEnvironment && <Badge>Set by the environment</Badge>}
        details={
          <>
            <code>{issuer}</code> ·{' '}
            {createUsers === 'allowed' ? 'creates people at their first sign-in' : 'people are invited'}
          </>
        }
        actions={
          <>
            {!isOfEnvironment && (
              <Switch
                checked={isActive}
                disabled={isBusy}
                aria-label={`“${name}” is active`}
                onChange={() => void toggle()}
              />
            )}
            <Button variant="default" onClick={onTest}>
              Test
            </Button>
            {!isOfEnvironment && (
              <>
                <Button variant="default" onClick={onEdit}>
                  Edit
                </Button>
                <RowMenu of={`“${name}”`}>
                  <Menu.Item c="var(--red)" onClick={() => setDeleting({})}>
                    Delete
                  </Menu.Item>
                </RowMenu>
              </>
            )}
          </>
        }
      >
        {redirectUrl && <CopyBlock caption="Redirect URL to register with the provider" text={redirectUrl} />}
      </Row>
      {deleting && (
        <DeleteDialog
          key={deleting.dependents}
          provider={provider}
          deleting={deleting}
          onChange={setDeleting}
          onDeleted={refresh}
        />
      )}
    </>
  )
}

interface Deleting {
  /** What the service says of people who have no other way in. */
  dependents?: string
}

interface DeleteDialogProps {
  provider: IdentityProvider
  deleting: Deleting
  onChange(change: (deleting: Deleting | undefined) => Deleting | undefined): void
  onDeleted(): Promise<unknown>
}

/** Asks once more where people would be locked out. */
function DeleteDialog({ provider: { id, name }, deleting, onChange, onDeleted }: DeleteDialogProps) {
  const { dependents } = deleting

  async function remove() {
    const query = { confirm: dependents !== undefined }
    try {
      await responseOf(api.DELETE('/api/identity-providers/{id}', { params: { path: { id }, query } }))
    } catch (error) {
      const { code, message } = problemOf(error)
      if (code !== 'identity_provider_in_use') throw error
      onChange(() => ({ dependents: message.split('. ')[0] ?? '' }))
      return
    }
    await onDeleted()
  }

  return (
    <ConfirmDialog
      title={`Delete “${isolate(name)}”?`}
      verb={dependents === undefined ? 'Delete provider' : 'Delete nevertheless'}
      // The second question may be shown instead.
      onClose={() => onChange((shown) => (shown === deleting ? undefined : shown))}
      onConfirm={remove}
    >
      {dependents === undefined
        ? "Nobody can sign in with it any more. Open sessions go on. This can't be undone."
        : `${dependents}. Invite them again, so that they can set a password.`}
    </ConfirmDialog>
  )
}
