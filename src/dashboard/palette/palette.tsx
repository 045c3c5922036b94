import { type ComponentType, useLayoutEffect, useRef, useState } from 'react'
import { releaseKeys } from '../keyboard/release-keys.ts'
import type { PaletteRequest, PaletteStep } from '../keyboard/shortcuts.ts'
import { type TaskActions, useTaskActions } from '../tasks/edits/use-task-actions.ts'
import { CommandStep } from './command-step.tsx'
import { FilterStep, SortStep } from './filter-step.tsx'
import { MergeStep } from './merge-step.tsx'
import { AssigneeStep, LabelStep } from './name-step.tsx'
import styles from './palette.module.css'
import { NewListStep, NewProjectStep, ProjectStep } from './project-steps.tsx'
import { ListStep, PriorityStep, StatusStep, type StepProps } from './property-steps.tsx'
import { SnoozeStep } from './snooze-step.tsx'

const STEPS: Record<PaletteStep, ComponentType<StepProps>> = {
  root: CommandStep,
  status: StatusStep,
  priority: PriorityStep,
  labels: LabelStep,
  assignees: AssigneeStep,
  list: ListStep,
  merge: MergeStep,
  projects: ProjectStep,
  filter: FilterStep,
  sort: SortStep,
  newProject: NewProjectStep,
  newList: NewListStep,
  snooze: SnoozeStep,
}

/** The command palette: finds commands, pages and tasks, or picks the value of one property. */
export default function Palette({
  step: firstStep,
  tasks,
  onEdit,
  onChoose,
  onClose,
}: PaletteRequest & { onClose(): void }) {
  const actions = followed(useTaskActions(), onEdit)
  const dialog = useRef<HTMLDialogElement>(null)
  const [step, setStep] = useState<PaletteStep>()
  // The browser's own modal takes the focus at once and gives it back.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    setStep(firstStep)
    return () => {
      opened?.close()
      releaseKeys()
    }
  }, [firstStep])
  const Step = step && STEPS[step]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same.
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label="Command palette"
      onCancel={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {Step && (
        <Step
          key={step}
          step={step}
          tasks={tasks}
          actions={actions}
          onStep={setStep}
          {...(step !== 'root' && onChoose && { onChoose })}
          {...(step !== firstStep && { onBack: () => setStep(firstStep) })}
          onClose={onClose}
        />
      )}
    </dialog>
  )
}

function followed(actions: TaskActions, onEdit: PaletteRequest['onEdit']): TaskActions {
  const follow = (edit: Promise<string[]>) => {
    onEdit?.(edit)
    return edit
  }
  return {
    toggleDone: actions.toggleDone,
    change: (tasks, change) => follow(actions.change(tasks, change)),
    changeNames: (tasks, change) => follow(actions.changeNames(tasks, change)),
    remove: (tasks) => follow(actions.remove(tasks)),
  }
}
