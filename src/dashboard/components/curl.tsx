import { CopyBlock } from './copy-block.tsx'

interface CurlProps {
  path: string
  method?: string
  body?: unknown
  caption?: string
}

/** A line for the terminal that holds this Inlet's real address; only the key is left to fill in. */
export function Curl({ path, method, body, caption = 'Or from a terminal:' }: CurlProps) {
  const parts = [
    `curl -s ${method ? `-X ${method} ` : ''}${quoted(location.origin + path)}`,
    `-H "X-API-Key: $INLET_KEY"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${inQuotes(JSON.stringify(body))}`] : []),
  ]
  return <CopyBlock caption={caption} text={parts.join(' \\\n  ')} />
}

const inQuotes = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** As it is where a shell reads nothing into it. */
const quoted = (address: string) => (/^[\w:/.%-]+$/.test(address) ? address : inQuotes(address))
