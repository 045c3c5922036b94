import { Button, CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firstOwnerQuery } from '../api/people-queries.ts'
import { ACCOUNT } from '../keyboard/shortcuts.ts'
import { useOpened } from '../navigation/use-opened.ts'
import styles from './sidebar.module.css'

/** Of the browser: `identify` keeps it. */
const HIDDEN_KEY = 'inlet-first-owner-hidden'

/** Offers to create the first owner, until there is one. */
export default function FirstOwner() {
  const [isHidden, setHidden] = useState(readHidden)
  const { open } = useOpened('new')
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
        <Button variant="default" onClick={() => open(ACCOUNT)}>
          Create your account
        </Button>
        <CloseButton className="push" size={32} aria-label="Hide this" onClick={hide} />
      </div>
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
