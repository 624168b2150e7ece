import { Failure } from '../../lib/failure.ts'

/** @throws Failure SIMULATOR_UNKNOWN, which is a defect of the caller */
export function known<Value>(all: ReadonlyMap<string, Value>, name: string, kind: string): Value {
  const found = all.get(name)
  if (found !== undefined) return found
  throw new Failure({
    code: 'SIMULATOR_UNKNOWN',
    sentence: `the simulated exchange does not know ${kind} of that name`,
    facts: { name, known: [...all.keys()].join(', ') },
    hint: 'name it in the simulator configuration',
  })
}
