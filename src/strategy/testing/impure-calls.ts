import { strategyAtFault, strategyPlace } from '../strategy-failure.ts'

export interface ImpureCalls {
  /** A sentence each, with the place in the code. */
  describe(): readonly string[]
  forget(): void
}

const CLOCK = 'the time is snapshot.exchangeTime'
const CHANCE = 'what a strategy says may hang on its snapshot, params and state alone'

export function watchImpureCalls(): ImpureCalls {
  const found = new Map<string, string>()
  const hear = (call: string, instead: string): void => {
    const strategy = strategyAtFault()
    const key = `${strategy} ${call}`
    if (strategy === undefined || found.has(key)) return
    found.set(
      key,
      `${strategyPlace(new Error(call)) ?? strategy} asks ${call}, which says something else the next time; ${instead}`,
    )
  }
  const undo = [
    replace(globalThis, 'Date', (original) => watchDate(original as DateConstructor, hear)),
    ...(
      [
        [Math, 'random', 'Math.random()', CHANCE],
        [performance, 'now', 'performance.now()', CLOCK],
        [crypto, 'randomUUID', 'crypto.randomUUID()', CHANCE],
        [crypto, 'getRandomValues', 'crypto.getRandomValues()', CHANCE],
      ] as const
    ).map(([owner, name, call, instead]) =>
      replace(owner, name, (original) => (...args: readonly unknown[]) => {
        hear(call, instead)
        return Reflect.apply(original as () => unknown, owner, args) as unknown
      }),
    ),
  ]
  return {
    describe: () => [...found.values()],
    forget: () => undo.forEach((one) => one()),
  }
}

function watchDate(
  original: DateConstructor,
  hear: (call: string, instead: string) => void,
): unknown {
  const now = (): number => {
    hear('Date.now()', CLOCK)
    return original.now()
  }
  return new Proxy(original, {
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
    apply: (target, self, args) => {
      hear('Date()', CLOCK)
      return Reflect.apply(target, self, args) as string
    },
    construct: (target, args, self) => {
      if (args.length === 0) hear('new Date()', CLOCK)
      return Reflect.construct(target, args, self) as object
    },
  })
}

function replace(owner: object, name: string, make: (original: unknown) => unknown): () => void {
  const property = Object.getOwnPropertyDescriptor(owner, name)
  const value = make(Reflect.get(owner, name))
  Object.defineProperty(owner, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: property?.enumerable ?? true,
  })
  return () => {
    if (property === undefined) Reflect.deleteProperty(owner, name)
    else Object.defineProperty(owner, name, property)
  }
}
