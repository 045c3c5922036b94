/** TypeScript with a programming interface, which version 7 has not got yet. */
import ts from 'typescript-5'

export type { Node, Program, SourceFile } from 'typescript-5'
export default ts
