import { Button } from '@mantine/core'
import { UploadIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { ErrorText } from '../components/error-text.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { type CsvFile, MAX_FILE_BYTES, readCsv } from './csv-file.ts'
import { CsvPreview } from './csv-preview.tsx'

/** Chooses a file; then its columns are mapped, and its rows imported. */
export function CsvImport() {
  const [file, setFile] = useState<CsvFile>()
  const { opened, open, close } = useOpened('import')
  const [error, setError] = useState<string>()

  async function read(chosen: File | undefined) {
    if (!chosen) return
    setError(undefined)
    if (chosen.size > MAX_FILE_BYTES) return setError('The file is larger than 100 MB. Split it first.')
    const read = readCsv(chosen.name, await chosen.arrayBuffer())
    if (read.rows.length === 0)
      return setError('The file has no rows below its first line, which names the columns.')
    setFile(read)
    open('columns')
  }

  function chooseAnother() {
    setFile(undefined)
    void close()
  }

  if (file && opened === 'columns') return <CsvPreview file={file} onClose={chooseAnother} />
  return (
    <>
      <p className="quiet small">
        The first line names the columns. In the next step, you choose what each column becomes, and see which
        rows have errors.
      </p>
      {opened === 'columns' && (
        <p role="status">
          Browsers don't keep a chosen file when a page is reloaded. Choose it again: what its columns become
          is kept.
        </p>
      )}
      <div>
        <Button
          leftSection={<UploadIcon size={16} />}
          renderRoot={({ children, ...props }) => (
            <label {...props}>
              {children}
              <input
                type="file"
                accept=".csv,.tsv,.txt,text/csv"
                className="visually-hidden"
                onChange={(event) => void read(event.currentTarget.files?.[0])}
              />
            </label>
          )}
        >
          Choose a CSV file
        </Button>
      </div>
      {error && <ErrorText>{error}</ErrorText>}
    </>
  )
}
