import { Button } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { CurlExample } from '../components/curl-example.tsx'
import { useMe } from '../session/session.ts'
import { PageHeader } from '../settings/page-header.tsx'
import { Section } from '../settings/section.tsx'
import { CsvImport } from './csv-import.tsx'

/** Export of all data, and import of tasks from CSV. */
export default function DataPage() {
  const { can, isServiceWide } = useMe()
  return (
    <>
      <PageHeader title="Import and export">Move tasks and other data in and out.</PageHeader>
      <Section title="Import tasks from CSV" label="Import tasks from CSV">
        {can('tasks:write') && can('tasks:read') ? (
          <CsvImport />
        ) : (
          <p className="quiet">
            This requires a key with the scopes <code>tasks:read</code> and <code>tasks:write</code>.
          </p>
        )}
      </Section>
      {can('admin') && isServiceWide && <Export />}
    </>
  )
}

function Export() {
  return (
    <Section
      title="Export all data"
      label="Export all data"
      description={
        <>
          All projects, tasks, comments, instructions, settings, people and activity in one file, without
          secrets. A new instance can import it with <code>POST /api/import</code>.
        </>
      }
    >
      <div>
        <Button
          variant="default"
          leftSection={<DownloadIcon size={16} />}
          // The browser writes it to a file as it arrives, however large it is.
          renderRoot={(props) => <a href="/api/export" download {...props} />}
        >
          Export
        </Button>
      </div>
      <CurlExample path="/api/export" file="inlet.ndjson" caption="The same as a command:" />
    </Section>
  )
}
