import { didYouMean } from '../../lib/did-you-mean.ts'
import { strategyFailure, type StrategyFailureCode } from '../strategy-failure.ts'

const ASKED_BY_TOOLS =
  /^(?:toJSON|then|href|asymmetricMatch|nodeType|tagName|constructor|\$\$typeof|@@.*|_.*)$/

export interface UnknownName {
  readonly code: StrategyFailureCode
  readonly describe: (name: string) => string
  readonly known: (asked: object) => readonly string[]
  readonly hint: string
}

/** Serves as a prototype: only unknown names reach it, so known ones cost nothing more. */
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

/** Without this, a misspelt `market.bidd` would compare with undefined. */
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
