import { useState } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { clockTime } from '../components/clock-time.ts'
import { snoozeTimes, typedTime } from '../tasks/snooze-times.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import { type StepProps, tasksText } from './property-steps.tsx'

/** The service takes years of four digits. */
const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Picks until when tasks are snoozed: a usual time, or a date that is typed. */
export function SnoozeStep({ step: _, tasks, actions, ...rest }: StepProps) {
  const [text, setText] = useState('')
  const [isDate, setDate] = useState(false)
  const now = new Date(serverNow())
  const group = tasksText(tasks)
  const until = (label: string, time: Date): Option => ({
    id: label,
    label,
    group,
    aside: clockTime(time.toISOString(), { now }),
    run: () => void actions.change(tasks, { snoozedUntil: time.toISOString() }),
  })
  const date: Option = { id: 'date', label: 'On a date…', group, isStep: true, run: () => setDate(true) }
  const end: Option = {
    id: 'end',
    label: 'End the snooze',
    group,
    run: () => void actions.change(tasks, { snoozedUntil: null }),
  }
  const isSnoozed = tasks.some(({ snoozedUntil }) => snoozedUntil !== null)
  const typed = typedTime(text)
  const isTooLate = typed !== undefined && typed.getTime() > MAX_TIME
  const typedOptions =
    typed && typed > now && !isTooLate ? [{ ...until('On this date', typed), isFound: true }] : []
  const usual = snoozeTimes(now).map(({ label, time }) => until(label, time))
  const shared = { ...rest, label: 'Snooze until', text, onType: setText, isSettled: true }
  if (isDate)
    return (
      <OptionList
        {...shared}
        placeholder="Year-month-day, with a time if you like"
        options={typedOptions}
        none={
          isTooLate
            ? 'Choose an earlier date.'
            : typed
              ? 'Choose a date in the future.'
              : 'For example 2027-01-31, or 2027-01-31 14:00.'
        }
      />
    )
  return (
    <OptionList
      {...shared}
      placeholder="Snooze until…"
      isNumbered
      options={[...usual, date, ...(isSnoozed ? [end] : [])]}
    />
  )
}
