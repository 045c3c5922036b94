import { ActionIcon } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import styles from './components.module.css'
import { useCopy } from './use-copy.ts'

export function CopyBlock({ text, caption }: { text: string; caption?: string }) {
  const { copied, copy } = useCopy(text)
  return (
    <div style={{ width: '100%', minWidth: 0 }}>
      {caption && <p className={styles.caption}>{caption}</p>}
      <div className={styles.block}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable. */}
        <pre tabIndex={0}>{text}</pre>
        <ActionIcon
          className={styles.copy}
          onClick={() => void copy()}
          aria-label={copied ? 'Copied' : 'Copy'}
        >
          {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
        </ActionIcon>
      </div>
    </div>
  )
}
