import { Tokenizer, type TopLevelToken, TypeGuards } from 'liquidjs'

type Expressions = (tokenizer: Tokenizer) => void

/**
 * Refuses what liquidjs would ignore: of `a == 1 AND b == 2`, it evaluates `a == 1`.
 * @throws Error that says what to write instead
 */
export function refuseIgnored(text: string): void {
  refuseIn(new Tokenizer(text).readTopLevelTokens())
}

function refuseIn(tokens: TopLevelToken[]): void {
  let isComment = false
  for (const token of tokens) {
    if (TypeGuards.isTagToken(token)) {
      if (token.name === 'comment' || token.name === 'endcomment') isComment = token.name === 'comment'
      if (isComment) continue
      const tokenizer = rangeOf(token.input, [token.tokenizer.p, token.contentRange[1]])
      if (token.name === 'liquid') refuseIn(tokenizer.readLiquidTagTokens())
      else EXPRESSIONS[token.name]?.(tokenizer)
    } else if (TypeGuards.isOutputToken(token) && !isComment) {
      value(rangeOf(token.input, token.contentRange))
    }
  }
}

const rangeOf = (input: string, range: [number, number]) => new Tokenizer(input, undefined, undefined, range)

/** How the arguments of a tag are read, as liquidjs reads them. */
const EXPRESSIONS: Record<string, Expressions> = {
  if: value,
  elsif: value,
  unless: value,
  case: value,
  echo: value,
  assign(tokenizer) {
    tokenizer.readIdentifier()
    tokenizer.skipBlank()
    // What has no `=` there, liquidjs refuses.
    tokenizer.advance()
    value(tokenizer)
  },
  when(tokenizer) {
    do {
      if (tokenizer.readValue() === undefined) throw unknown(tokenizer, 'a value')
      tokenizer.skipBlank()
    } while (readSeparator(tokenizer))
    if (!tokenizer.end()) throw unknown(tokenizer, 'a comma, or "or"')
  },
  for: loop,
  tablerow: loop,
}

function readSeparator(tokenizer: Tokenizer): boolean {
  const [separator] = /^(,|or\b)/.exec(tokenizer.remaining()) ?? []
  if (separator) tokenizer.advance(separator.length)
  return separator !== undefined
}

const LOOP_OPTION = /^(reversed\b|(limit|offset|cols)\s*:)/

function loop(tokenizer: Tokenizer): void {
  tokenizer.readIdentifier()
  tokenizer.readIdentifier()
  tokenizer.readValue()
  for (tokenizer.skipBlank(); !tokenizer.end(); tokenizer.skipBlank()) {
    if (tokenizer.peek() === ',') tokenizer.advance()
    tokenizer.skipBlank()
    const [option] = LOOP_OPTION.exec(tokenizer.remaining()) ?? []
    if (!option) throw unknown(tokenizer, 'limit:, offset:, or reversed')
    tokenizer.advance(option.length)
    if (option.endsWith(':')) tokenizer.readValue()
  }
}

/** A condition or value with its filters. */
function value(tokenizer: Tokenizer): void {
  tokenizer.skipBlank()
  // Where a value is required, liquidjs refuses this.
  if (tokenizer.end()) return
  operands(tokenizer)
  while (!tokenizer.end()) {
    if (!/^\|(?!\|)/.test(tokenizer.remaining())) throw unknown(tokenizer)
    filter(tokenizer)
    tokenizer.skipBlank()
  }
}

/** Values with operators between them. Reads as far as that goes. */
function operands(tokenizer: Tokenizer): void {
  let isValueExpected = true
  let previous = ''
  for (;;) {
    tokenizer.skipBlank()
    const { p } = tokenizer
    const token = nextOf(tokenizer)
    if (token === undefined) break
    const text = tokenizer.input.slice(p, tokenizer.p)
    const isOperator = TypeGuards.isOperatorToken(token)
    if (isValueExpected && isOperator && text !== 'not') {
      tokenizer.p = p
      throw previous ? unknown(tokenizer) : new Error(`A value is missing before "${text}".`)
    }
    if (!isValueExpected && (!isOperator || text === 'not')) {
      if (/^not$/i.test(previous)) throw notAnOperator(previous)
      tokenizer.p = p
      throw unknown(tokenizer)
    }
    if (TypeGuards.isQuotedToken(token) && (text.length < 2 || text.at(-1) !== text[0])) {
      throw new Error(`The closing quote of ${text} is missing.`)
    }
    isValueExpected = isOperator
    previous = text
  }
  if (!isValueExpected) return
  throw tokenizer.end() ? new Error(`A value is missing after "${previous}".`) : unknown(tokenizer)
}

function nextOf(tokenizer: Tokenizer) {
  const isOpening = tokenizer.peek() === '('
  try {
    const { value } = tokenizer.readExpressionTokens().next()
    return value
  } catch (error) {
    throw isOpening ? new Error(PARENTHESES) : error
  }
}

function filter(tokenizer: Tokenizer): void {
  const [start = '', name = ''] = /^\|\s*(\w*)\s*/.exec(tokenizer.remaining()) ?? []
  const rest = tokenizer.remaining().slice(start.length)
  if (/^([=!<>&]|(and|or|contains)\b)/i.test(rest)) {
    throw new Error(
      `A condition cannot continue after the filter ${name}. Use {% assign %} first, or .size for a size.`,
    )
  }
  if (name && !/^([:|]|$)/.test(rest))
    throw new Error(`A colon is missing after the filter ${name}: ${name}: …`)
  const read = tokenizer.readFilter()
  const [, condition] = read?.name.endsWith('_exp') ? read.args : []
  // `where_exp: "x", "x.a == 1"` reads its condition when it is rendered.
  if (condition && !Array.isArray(condition) && TypeGuards.isQuotedToken(condition)) {
    value(new Tokenizer(condition.content))
  }
}

const OPERATORS = '==, !=, <, <=, >, >=, contains, and, or'

/** What other languages write, and Liquid in its place. */
const INSTEAD: [RegExp, string][] = [
  [/^(=|===|is|eq|equals)$/i, '=='],
  [/^(!==|<>|><|=!|ne|neq)$/i, '!='],
  [/^(&+|and)$/i, 'and'],
  [/^(\|+|or)$/i, 'or'],
  [/^(!|not)$/i, 'not'],
  [/^(=>|ge|gte)$/i, '>='],
  [/^(=<|le|lte)$/i, '<='],
  [/^gt$/i, '>'],
  [/^lt$/i, '<'],
  [/^in$/i, 'contains, with the list first'],
  [/^(=~|~=?|~\*|like|ilike|matches|match|includes|startswith|endswith)$/i, 'contains'],
]

/** What the tokenizer could not read: `"AND" is not an operator of Liquid. Use and.` */
function unknown(tokenizer: Tokenizer, expected?: string): Error {
  // Liquid reads the beginning of `===` and `<>`.
  const before =
    /[=!<>&|~]*$/.exec(tokenizer.input.slice(Math.max(0, tokenizer.p - 3), tokenizer.p))?.[0] ?? ''
  const rest = tokenizer.remaining()
  const symbols = before + (/^[=!<>&|~*]+/.exec(rest)?.[0] ?? '')
  const [word = ''] = /^(\w+|\S)/u.exec(rest) ?? []
  const text = symbols || word
  if (text === '') return new Error(`Something is missing at the end. Expected ${expected}.`)
  if (expected) return new Error(`"${text}" is not supported here. Expected ${expected}.`)
  if (text === ')') return new Error(PARENTHESES)
  if (/^[‘’“”„«»]$/.test(text)) return new Error(`${text} is not a quote in Liquid. Use " or '.`)
  return notAnOperator(text)
}

function notAnOperator(text: string): Error {
  if (/^(and|or)$/.test(text)) return new Error(`A value is missing before "${text}".`)
  if (text === 'not') return new Error('"not" must come before a value. Use != to compare, or "and not".')
  const instead = INSTEAD.find(([pattern]) => pattern.test(text))?.[1]
  return new Error(`"${text}" is not an operator of Liquid. Use ${instead ?? `one of ${OPERATORS}`}.`)
}

const PARENTHESES = 'Parentheses are not supported in conditions.'
