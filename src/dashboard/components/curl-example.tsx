import { CopyBlock } from './copy-block.tsx'

interface CurlExampleProps {
  path: string
  method?: string
  body?: unknown
  /** The file that the response is written to. */
  file?: string
  caption?: string
}

/** A curl command with the real address of this service; only the key is a placeholder. */
export function CurlExample({ path, method, body, file, caption = 'Or with curl:' }: CurlExampleProps) {
  const lines = [
    `curl -s ${method ? `-X ${method} ` : ''}${quoteIfNeeded(location.origin + path)}`,
    `-H "X-API-Key: $INLET_KEY"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${shellQuote(JSON.stringify(body))}`] : []),
    ...(file ? [`-o ${file}`] : []),
  ]
  return <CopyBlock caption={caption} text={lines.join(' \\\n  ')} />
}

/** As one argument of a command. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Unquoted when the shell does not interpret any of it. */
const quoteIfNeeded = (address: string) => (/^[\w:/.%-]+$/.test(address) ? address : shellQuote(address))
