/** The types of Kubernetes, which are made of its OpenAPI schemas, as a check of manifests. */
import { join } from 'node:path'
import { TOOLS } from './fetch.ts'
import ts from './typescript.ts'

/**
 * The errors of each manifest. The compiler refuses fields that the schemas do not have, as kubectl does; the schemas
 * themselves allow them.
 */
export function manifestErrors(manifests: { apiVersion: string; kind: string }[]): string[][] {
  const sources = new Map(
    manifests.map((manifest, nth) => [join(TOOLS, `manifest-${nth}.ts`), sourceOf(manifest)]),
  )
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.Preserve,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (file) => sources.has(file) || fileExists(file)
  host.getSourceFile = (file, version) => {
    const source = sources.get(file)
    return source === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, source, version)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources.keys()].map((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  )
}

function sourceOf(manifest: { apiVersion: string; kind: string }): string {
  const { apiVersion, kind } = manifest
  const group = apiVersion.includes('/') ? apiVersion.replace('.k8s.io/', '/') : `core/${apiVersion}`
  return `import type { ${kind} } from 'kubernetes-types/${group}'
    export const manifest: ${kind} = ${JSON.stringify(manifest)}`
}
