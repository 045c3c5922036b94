import { Button, FileButton, PasswordInput, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import type { Schema } from '../api/client.ts'

type Connection = Schema<'Connection'>

/** What a repository is read with, as entered. */
export interface EnteredCredentials {
  kind: 'token' | 'app'
  token: string
  appId: string
  installationId: string
  privateKey: string
}

/** What the form starts with: the IDs of the stored App, and no secret. */
export const storedCredentials = (connection: Connection | undefined): EnteredCredentials => ({
  kind: connection?.app ? 'app' : 'token',
  token: '',
  appId: connection?.app?.appId.toString() ?? '',
  installationId: connection?.app?.installationId.toString() ?? '',
  privateKey: '',
})

/** The members of the request. Without a new secret, what is stored is kept, unless the kind changes. */
export function credentialsToSend(
  entered: EnteredCredentials,
  connection: Connection | undefined,
): Pick<Schema<'ConnectionRequest'>, 'token' | 'app'> {
  const token = entered.token.trim()
  if (entered.kind === 'token') {
    if (token) return { token }
    return connection?.app ? { app: null } : {}
  }
  if (isAppKept(entered, connection)) return {}
  const { appId, installationId, privateKey } = entered
  return { app: { appId: Number(appId), installationId: Number(installationId), privateKey } }
}

function isAppKept(entered: EnteredCredentials, connection: Connection | undefined): boolean {
  const { app } = connection ?? {}
  if (!app || entered.privateKey.trim()) return false
  return Number(entered.appId) === app.appId && Number(entered.installationId) === app.installationId
}

interface CredentialsFieldsProps {
  entered: EnteredCredentials
  connection: Connection | undefined
  /** A key bound to a project cannot use the service's own token. */
  isBound: boolean
  errors: Record<string, string> | undefined
  onChange(entered: EnteredCredentials): void
}

/** A token, or the three members of a GitHub App. */
export function CredentialsFields({
  entered,
  connection,
  isBound,
  errors,
  onChange,
}: CredentialsFieldsProps) {
  const set = (change: Partial<EnteredCredentials>) => onChange({ ...entered, ...change })
  const errorOf = (name: string) => errors?.[name] && <span role="alert">{errors[name]}</span>
  const isKept = isAppKept(entered, connection)
  return (
    <>
      <SegmentedControl
        aria-label="Credentials"
        value={entered.kind}
        onChange={(kind) => set({ kind: kind as EnteredCredentials['kind'] })}
        data={[
          { value: 'token', label: 'Token' },
          { value: 'app', label: 'GitHub App' },
        ]}
      />
      {entered.kind === 'token' && (
        <PasswordInput
          label="Access token"
          description={tokenText({ connection, isBound })}
          autoComplete="off"
          required={isBound && (!connection || connection.app !== null)}
          value={entered.token}
          error={errorOf('token')}
          onChange={(event) => set({ token: event.currentTarget.value })}
        />
      )}
      {entered.kind === 'app' && (
        <>
          <p className="quiet small" style={{ margin: 0 }}>
            The App needs read access to issues and pull requests, and must be installed on the repository.
          </p>
          <TextInput
            label="App ID"
            description="In the settings of the App, under About."
            inputMode="numeric"
            pattern="[0-9]+"
            required
            value={entered.appId}
            error={errorOf('app/appId')}
            onChange={(event) => set({ appId: event.currentTarget.value })}
          />
          <TextInput
            label="Installation ID"
            description="The number at the end of the URL of the installation."
            inputMode="numeric"
            pattern="[0-9]+"
            required
            value={entered.installationId}
            error={errorOf('app/installationId')}
            onChange={(event) => set({ installationId: event.currentTarget.value })}
          />
          <Textarea
            label="Private key"
            description={
              connection?.app
                ? 'Leave empty to keep the stored key.'
                : 'The content of the .pem file. Stored encrypted.'
            }
            placeholder="-----BEGIN RSA PRIVATE KEY-----"
            autoComplete="off"
            spellCheck={false}
            rows={4}
            required={!isKept}
            value={entered.privateKey}
            error={errorOf('app/privateKey')}
            onChange={(event) => set({ privateKey: event.currentTarget.value })}
          />
          <div>
            <FileButton
              accept=".pem,.key,.txt"
              onChange={async (file) => {
                if (file) set({ privateKey: await file.text() })
              }}
            >
              {(button) => (
                <Button variant="default" {...button}>
                  Choose .pem file
                </Button>
              )}
            </FileButton>
          </div>
        </>
      )}
    </>
  )
}

function tokenText({ connection, isBound }: { connection: Connection | undefined; isBound: boolean }) {
  if (connection?.hasToken) return 'Leave empty to keep the stored token.'
  const needs = 'Needs read access to issues and pull requests. Stored encrypted.'
  return isBound ? needs : `${needs} Optional for public repositories.`
}
