/** Times and intervals in ms. */
export type SqlValue = number | string | boolean | null

const TOKENS = /'[^']*'|\$?\w+(?:\.\w+)?|<>|<=|>=|[-=<>+()]/g
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, seconds: 1000, hour: 3_600_000 }

const COMPARISONS: Readonly<Record<string, (left: SqlValue, right: SqlValue) => boolean>> = {
  '=': (left, right) => left === right,
  '<>': (left, right) => left !== right,
  '<': (left, right) => Number(left) < Number(right),
  '<=': (left, right) => Number(left) <= Number(right),
  '>': (left, right) => Number(left) > Number(right),
  '>=': (left, right) => Number(left) >= Number(right),
}

/**
 * Evaluates a condition of the product's SQL, as far as the lease uses it. Anything else throws, so
 * that a changed condition is noticed.
 */
export function evaluateSql(text: string, values: Readonly<Record<string, SqlValue>>): SqlValue {
  const evaluation = new Evaluation(text, values)
  const value = evaluation.either()
  evaluation.assertAtEnd()
  return value
}

class Evaluation {
  readonly #text: string
  readonly #tokens: string[]
  readonly #values: Readonly<Record<string, SqlValue>>

  constructor(text: string, values: Readonly<Record<string, SqlValue>>) {
    this.#text = text
    this.#tokens = text.match(TOKENS) ?? []
    this.#values = values
  }

  /** Both sides are always read. */
  either(): SqlValue {
    let value = this.#both()
    while (this.#takes('OR')) value = [this.#both(), value].includes(true)
    return value
  }

  assertAtEnd(): void {
    if (this.#tokens.length > 0) throw this.#unknown(this.#tokens.join(' '))
  }

  #both(): SqlValue {
    let value = this.#not()
    while (this.#takes('AND')) value = [this.#not(), value].every((side) => side === true)
    return value
  }

  #not(): SqlValue {
    return this.#takes('NOT') ? this.#not() !== true : this.#comparison()
  }

  #comparison(): SqlValue {
    const left = this.#sum()
    if (this.#takes('IS')) {
      const isNegated = this.#takes('NOT')
      this.#expect('NULL')
      return (left === null) !== isNegated
    }
    const compare = COMPARISONS[this.#tokens[0] ?? '']
    if (!compare) return left
    this.#tokens.shift()
    return compare(left, this.#sum())
  }

  #sum(): SqlValue {
    let value = this.#term()
    for (;;) {
      if (this.#takes('+')) value = Number(value) + Number(this.#term())
      else if (this.#takes('-')) value = Number(value) - Number(this.#term())
      else return value
    }
  }

  #term(): SqlValue {
    const token = this.#tokens.shift() ?? ''
    if (token === 'CASE') return this.#case()
    if (token === '(') {
      const value = this.either()
      this.#expect(')')
      return value
    }
    if (token === 'interval') return toMs(this.#tokens.shift() ?? '')
    if (token === "'-infinity'") return Number.NEGATIVE_INFINITY
    if (/^\d+$/.test(token)) return Number(token)
    const value = this.#values[token]
    if (value === undefined) throw this.#unknown(token)
    return value
  }

  #case(): SqlValue {
    let found: SqlValue | undefined
    while (this.#takes('WHEN')) {
      const isSo = this.either() === true
      this.#expect('THEN')
      const value = this.either()
      if (isSo) found ??= value
    }
    this.#expect('ELSE')
    const otherwise = this.either()
    this.#expect('END')
    return found ?? otherwise
  }

  #takes(token: string): boolean {
    const isNext = this.#tokens[0] === token
    if (isNext) this.#tokens.shift()
    return isNext
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw this.#unknown(this.#tokens[0] ?? 'the end')
  }

  #unknown(token: string): Error {
    return new Error(`the model of the server does not know ${token} in: ${this.#text}`)
  }
}

function toMs(literal: string): number {
  const [count, unit = ''] = literal.slice(1, -1).split(' ')
  return Number(count) * (UNITS_MS[unit] ?? Number.NaN)
}
