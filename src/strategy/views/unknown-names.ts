import { didYouMean } from '../../lib/did-you-mean.ts'
import { strategyFailure, type StrategyFailureCode } from '../strategy-failure.ts'

/** What tools ask any object for, to learn what it is: not a strategy. */
const ASKED_BY_TOOLS =
  /^(?:toJSON|then|href|asymmetricMatch|nodeType|tagName|constructor|\$\$typeof|@@.*|_.*)$/

export interface UnknownName {
  readonly code: StrategyFailureCode
  /** What was looked for, in words. */
  readonly describe: (name: string) => string
  readonly known: (asked: object) => readonly string[]
  readonly hint: string
}

/**
 * Goes behind an object as its prototype, where only names arrive that it does not have: they throw, where plain
 * JavaScript would go on with undefined. What the object has costs nothing more.
 */
export function refuseUnknownNames({ code, describe, known, hint }: UnknownName): object {
  return new Proxy(Object.prototype, {
    get(base, name, asked: object) {
      if (typeof name !== 'string' || name in base || ASKED_BY_TOOLS.test(name))
        return Reflect.get(base, name) as unknown
      const guess = didYouMean(name, known(asked))
      throw strategyFailure(code, {
        facts: { found: describe(name) },
        hint: guess === undefined ? hint : `did you mean ${guess}?`,
      })
    },
  })
}

/** Behind the views of a moment: a misspelt `market.bidd` is a mistake, and not a comparison with undefined. */
export function refuseUnknownMembers(what: string): object {
  return refuseUnknownNames({
    code: 'STRATEGY_NAME_UNKNOWN',
    describe: (name) => `${name} of ${what}`,
    known: (asked) => [
      ...Object.keys(asked),
      ...Object.getOwnPropertyNames(Object.getPrototypeOf(asked)).filter(
        (name) => !FOR_RUNNER.has(name),
      ),
    ],
    hint: `docs/strategies.md lists what ${what} has`,
  })
}

const FOR_RUNNER: ReadonlySet<string> = new Set(['constructor', 'pointAt'])
