import process from 'node:process'
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { strategyFailure } from './strategy-failure.ts'

/**
 * Whose code runs: everything that a strategy's code starts, timers and promises too, keeps the name of that
 * strategy. So what it does to the process is known to be its own, and harms only itself (STR1).
 */
const context = new AsyncLocalStorage<string>()

/** Runs code of a strategy under a name: its id, or the path of its file while that is loaded. */
export function runAsStrategy<Result>(name: string, code: () => Result): Result {
  guardProcess()
  return context.run(name, code)
}

/**
 * What runs the code of one strategy under its name again and again. The frame is made once: entering it takes some
 * 30 ns, one made for each decision 450.
 */
export function createStrategyScope(name: string): <Result>(code: () => Result) => Result {
  const scope = runAsStrategy(name, () => new AsyncResource('strategy'))
  return (code) => scope.runInAsyncScope(code)
}

/** In a handler of what nobody caught: the name of the strategy that threw it; undefined where it was none. */
export function strategyAtFault(): string | undefined {
  return context.getStore()
}

/** Ways to end a process from inside. */
const ENDS = ['exit', 'reallyExit', 'abort'] as const

let isGuarded = false

/** A strategy that ends the process gets an error for it; anybody else ends it. */
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
