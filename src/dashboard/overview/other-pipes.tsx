import type { Schema } from '../api/client.ts'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { KINDS } from './pipe-kinds.ts'
import styles from './pipes.module.css'

interface OtherPipesProps extends Pick<Schema<'Pipe'>, 'kind' | 'state'> {
  count: number
  /** Whether some are shown above. */
  isRest: boolean
}

/** How many there are that have no line of their own, and where they are listed. */
export function OtherPipes({ kind, state, count, isRest }: OtherPipesProps) {
  const { can } = useMe()
  const { plural, page } = KINDS[kind]
  const text = `${count.toLocaleString()} ${isRest ? 'more ' : ''}${plural}`
  return (
    <li className={styles.others}>
      {can('admin') ? (
        <Link to={page} className="target">
          {text}
        </Link>
      ) : (
        text
      )}{' '}
      {VERBS[state]}
    </li>
  )
}

const VERBS: Record<OtherPipesProps['state'], string> = {
  failing: 'fail',
  silent: 'are silent',
  ok: 'work',
  off: 'are off or were never used',
}
