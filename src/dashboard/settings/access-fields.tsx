import { MultiSelect, Select, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Problem } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { ROLES, type Role } from './people-text.ts'

const MAX_PROJECTS = 20
/** Cast: TypeScript types keys as any text. */
const ALL_ROLES = Object.keys(ROLES) as Role[]

/** A role, and the projects; null for all. */
export interface Access {
  role: Role
  projectIds: string[] | null
}

export const isComplete = ({ projectIds }: Access) => projectIds === null || projectIds.length > 0

interface AccessFieldsProps {
  access: Access
  problem: Problem | undefined
  /** Those to choose from. */
  roles?: readonly Role[]
  onChange(access: Access): void
}

export function AccessFields({ access, problem, roles = ALL_ROLES, onChange }: AccessFieldsProps) {
  const { role, projectIds } = access
  const { data: projects = [] } = useQuery(projectsQuery)
  const choices = projects.filter(({ id, archivedAt }) => archivedAt === null || projectIds?.includes(id))
  return (
    <>
      <Select
        label="Role"
        description={ROLES[role].description}
        data={roles.map((value) => ({ value, label: ROLES[value].label }))}
        value={role}
        allowDeselect={false}
        onChange={(value) => {
          // Cast: these are the values of the options.
          const next = (value ?? role) as Role
          onChange({ role: next, projectIds: next === 'owner' ? null : projectIds })
        }}
      />
      {role !== 'owner' && (
        <Switch
          label="All projects"
          description="Also those that are created later."
          checked={projectIds === null}
          onChange={({ currentTarget }) => onChange({ role, projectIds: currentTarget.checked ? null : [] })}
        />
      )}
      {role !== 'owner' && projectIds !== null && (
        <MultiSelect
          label="Projects"
          description={`Choose 1 to ${MAX_PROJECTS}.`}
          placeholder={projectIds.length === 0 ? 'Choose projects' : ''}
          searchable
          hidePickedOptions
          nothingFoundMessage="No other projects"
          maxValues={MAX_PROJECTS}
          data={choices.map(({ id, name }) => ({ value: id, label: name }))}
          value={projectIds}
          error={problem?.byField['/projectIds']}
          onChange={(ids) => onChange({ role, projectIds: ids })}
        />
      )}
    </>
  )
}
