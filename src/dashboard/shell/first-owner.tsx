import { Button, CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { firstOwnerQuery } from '../api/people-queries.ts'
import { DialogLoading, preloadDialog } from '../components/lazy.tsx'
import styles from './sidebar.module.css'

const FirstOwnerDialog = preloadDialog(() => import('./first-owner-dialog.tsx'))

/** Of the browser: `identify` keeps it. */
const HIDDEN_KEY = 'inlet-first-owner-hidden'

/** Offers to create the first owner, until there is one. */
export default function FirstOwner() {
  const [isHidden, setHidden] = useState(readHidden)
  const [isOpen, setOpen] = useState(false)
  const { data: hasOwner = true } = useQuery({ ...firstOwnerQuery, enabled: !isHidden })
  if (isHidden || hasOwner) return null

  function hide() {
    setHidden(true)
    try {
      localStorage.setItem(HIDDEN_KEY, 'yes')
    } catch {
      // It is forbidden or full: hidden until the page is loaded again.
    }
  }

  return (
    <aside className={styles.banner} aria-label="Create your account">
      <p>Sign in with your own name instead of an API key.</p>
      <div className="row">
        <Button variant="default" onClick={() => setOpen(true)}>
          Create your account
        </Button>
        <CloseButton className="push" size={32} aria-label="Hide this" onClick={hide} />
      </div>
      <Suspense fallback={<DialogLoading />}>
        {isOpen && <FirstOwnerDialog onClose={() => setOpen(false)} />}
      </Suspense>
    </aside>
  )
}

function readHidden(): boolean {
  try {
    return localStorage.getItem(HIDDEN_KEY) !== null
  } catch {
    return false
  }
}
