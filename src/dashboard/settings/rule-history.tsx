import { Button, Modal } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { itemsOf, type Rule, ruleVersionsQuery } from '../api/queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { diffWords } from '../lib/word-diff.ts'
import { Row, Rows } from './rows.tsx'
import styles from './settings.module.css'

type Version = Schema<'RuleVersion'>

interface RuleHistoryProps {
  rule: Rule
  mayWrite: boolean
  onClose(): void
}

export function RuleHistory({ rule, mayWrite, onClose }: RuleHistoryProps) {
  const { mutate, isBusy } = useMutation('rules', 'context', 'rule-versions')
  const query = useInfiniteQuery(ruleVersionsQuery(rule.id))
  const versions = itemsOf(query.data)
  // Each version is compared with the previous one, which the last of a page does not have yet.
  const shown = query.hasNextPage ? versions.slice(0, -1) : versions
  async function revert(version: number) {
    const reverted = await mutate("Couldn't revert the instruction", () =>
      dataOf(api.POST('/api/rules/{id}/revert', { params: { path: { id: rule.id } }, body: { version } })),
    )
    if (reverted) onClose()
  }
  return (
    <Modal opened onClose={onClose} size="lg" title="History">
      <Rows
        label="versions"
        query={query}
        queryKey={ruleVersionsQuery(rule.id).queryKey}
        isOrdered
        more="Show older versions"
      >
        {shown.map((version, index) => (
          <Row
            key={version.version}
            name={`Version ${version.version}`}
            beside={
              <>
                <span className="quiet small">
                  {version.createdBy.name}, <RelativeTime dateTime={version.createdAt} />
                </span>
                {index > 0 && mayWrite && (
                  <Button
                    className="push"
                    variant="default"
                    size="xs"
                    loading={isBusy}
                    onClick={() => void revert(version.version)}
                  >
                    Revert to this version
                  </Button>
                )}
              </>
            }
          >
            <VersionDiff version={version} previous={versions[index + 1]} />
          </Row>
        ))}
      </Rows>
    </Modal>
  )
}

function VersionDiff({ version, previous }: { version: Version; previous: Version | undefined }) {
  const propertyChanges = [
    previous &&
      previous.priority !== version.priority &&
      `priority ${previous.priority} → ${version.priority}`,
    previous && previous.isActive !== version.isActive && (version.isActive ? 'activated' : 'deactivated'),
    previous &&
      previous.paths.join() !== version.paths.join() &&
      (version.paths.length > 0 ? `only for ${version.paths.join(', ')}` : 'for all files'),
  ].filter(Boolean)
  return (
    <>
      {propertyChanges.length > 0 && <div className="quiet small">{propertyChanges.join(', ')}</div>}
      <p className={styles.diff}>
        {diffWords(previous?.content ?? version.content, version.content).map(({ kind, text }, index) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order.
          if (kind === 'added') return <ins key={index}>{text}</ins>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order.
          if (kind === 'removed') return <del key={index}>{text}</del>
          return text
        })}
      </p>
    </>
  )
}
