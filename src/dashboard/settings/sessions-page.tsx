import { PageHeader } from './page-header.tsx'
import { SessionList, SignOutEverywhere } from './session-list.tsx'

export default function SessionsPage() {
  return (
    <>
      <PageHeader title="Sessions" action={<SignOutEverywhere />}>
        Browsers that are signed in. The session of a person ends after 7 days of inactivity; the session of a
        key ends with its key, or after 12 hours of inactivity.
      </PageHeader>
      <SessionList />
    </>
  )
}
