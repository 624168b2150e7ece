import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import process from 'node:process'
import { strategyFailure } from './strategy-failure.ts'

/**
 * Whatever a strategy's code starts keeps its name, so its effects on the process harm only it
 * (STR1).
 */
const context = new AsyncLocalStorage<string>()

export function runAsStrategy<Result>(name: string, code: () => Result): Result {
  guardProcess()
  return context.run(name, code)
}

/** Entering takes 30 ns; a scope for each decision would take 450 ns. */
export function createStrategyScope(name: string): <Result>(code: () => Result) => Result {
  const scope = runAsStrategy(name, () => new AsyncResource('strategy'))
  return (code) => scope.runInAsyncScope(code)
}

export function strategyAtFault(): string | undefined {
  return context.getStore()
}

const ENDS = ['exit', 'reallyExit', 'abort'] as const

let isGuarded = false

/** A strategy gets an error; other code ends the process. */
function guardProcess(): void {
  if (isGuarded) return
  isGuarded = true
  for (const name of ENDS) guardFunction(name, () => true)
  guardFunction('kill', ([pid]) => pid === process.pid)
}

function guardFunction(name: string, isOfUs: (args: readonly unknown[]) => boolean): void {
  const original: unknown = Reflect.get(process, name)
  if (typeof original !== 'function') return
  Reflect.set(process, name, (...args: readonly unknown[]): unknown => {
    if (strategyAtFault() === undefined || !isOfUs(args)) {
      return Reflect.apply(original, process, args) as unknown
    }
    throw strategyFailure('STRATEGY_ENDS_PROCESS', {
      facts: { called: `process.${name}` },
      hint: 'throw an error: the daemon halts a strategy that fails ten times in a row',
    })
  })
}

/** With the strategy that threw, if known. @returns a function that stops this */
export function onBreakdown(
  fail: (error: unknown, strategy: string | undefined) => void,
): () => void {
  const hear = (error: unknown) => fail(error, strategyAtFault())
  process.on('uncaughtException', hear)
  return () => process.off('uncaughtException', hear)
}
