import type { Schema } from '../api/client.ts'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { inviteUrl } from './people-text.ts'

interface InviteLinkDialogProps {
  invite: Schema<'InviteWithSecret'>
  /** Of the person. */
  name: string
  onStored(): void
}

/** Shows the link of an invite, once. */
export function InviteLinkDialog({ invite, name, onStored }: InviteLinkDialogProps) {
  const isForPassword = invite.userId !== null
  return (
    <SecretDialog
      title={isForPassword ? `New password for ${name}` : `Invite for ${name}`}
      what="link"
      secret={inviteUrl(invite, location.origin)}
      onStored={onStored}
    >
      <p style={{ margin: 0 }}>
        {isForPassword
          ? `Send this link to ${name}, who chooses a new password with it. All other sessions of ${name} end then.`
          : `Send this link to ${name}, who creates an account with it.`}{' '}
        It works once, for 7 days.
      </p>
      {invite.url === null && (
        <p className="quiet small" style={{ margin: 0 }}>
          <code>PUBLIC_URL</code> is not set, so the link has the address of this page. If others open Inlet
          at another address, change the beginning of the link.
        </p>
      )}
    </SecretDialog>
  )
}
