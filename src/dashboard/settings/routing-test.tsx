import { Button, Select, Textarea } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { deliveryQuery, newestDeliveriesQuery, projectsQuery } from '../api/queries.ts'
import { clockTime } from '../components/clock-time.ts'
import { useDraft } from '../components/use-draft.ts'
import styles from './settings.module.css'

type TestResult = Schema<'RoutingTest'>

const SAMPLE = {
  event: 'feedback_submitted',
  distinct_id: 'user-1',
  timestamp: '2026-01-31T12:00:00.000Z',
  properties: {
    sentiment: 'frustrated',
    trigger: 'manual',
    app_version: '2.3.1',
    bundle_id: 'com.example.app',
    note: 'The export button does nothing.',
  },
}

const SAMPLE_TEXT = JSON.stringify(SAMPLE, null, 2)

interface RoutingTestProps {
  result: TestResult | undefined
  /** Whether the rules are loaded. */
  isReady: boolean
  onResult(result: TestResult | undefined): void
}

/** Tests a payload against the rules without creating a task. */
export function RoutingTest({ result, isReady, onResult }: RoutingTestProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { data: latest } = useQuery(newestDeliveriesQuery({ receiver: 'feedback' }))
  const [text = SAMPLE_TEXT, setText] = useDraft('routing-test')
  const [errorMessage, setErrorMessage] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const queryClient = useQueryClient()
  const received = latest?.data.filter(({ hasPayload }) => hasPayload) ?? []

  async function insert(id: string) {
    try {
      const { payload } = await queryClient.fetchQuery(deliveryQuery(id))
      if (payload != null) setText(JSON.stringify(payload, null, 2))
    } catch (error) {
      setErrorMessage(problemOf(error).message)
    }
  }

  async function runTest() {
    let body: Schema<'FeedbackDelivery'>
    try {
      body = JSON.parse(text)
    } catch (error) {
      onResult(undefined)
      return setErrorMessage(`Invalid JSON: ${(error as Error).message}`)
    }
    setBusy(true)
    try {
      onResult(await dataOf(api.POST('/api/webhook-routing/test', { body })))
      setErrorMessage(undefined)
    } catch (error) {
      onResult(undefined)
      setErrorMessage(problemOf(error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <section className={styles.section} aria-label="Try it">
      <h2>Try it</h2>
      {received.length > 0 && (
        <Select
          label="From a delivery"
          placeholder="Select a delivery"
          data={received.map((delivery) => ({
            value: delivery.id,
            label: `${delivery.title ?? delivery.senderId ?? 'Feedback'}, ${clockTime(delivery.receivedAt)}`,
          }))}
          onChange={(id) => id && void insert(id)}
        />
      )}
      <Textarea
        label="Payload"
        autosize
        minRows={8}
        maxRows={18}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12.5 } }}
        value={text}
        error={errorMessage}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div>
        <Button variant="default" onClick={() => void runTest()} loading={isBusy} disabled={!isReady}>
          Try it
        </Button>
      </div>
      {result && (
        <div role="status" className="stack" style={{ gap: 4 }}>
          <strong>
            {result.wouldCreate
              ? `“${result.title}” would be created in ${projects?.find(({ id }) => id === result.projectId)?.name ?? 'a project'} / ${result.listName}.`
              : 'No task would be created.'}
          </strong>
          <span className="quiet">{result.explanation}</span>
        </div>
      )}
    </section>
  )
}
