import { isDeepStrictEqual } from 'node:util'
import { type ConfigRequest, type DaemonConfig, loadConfig } from '../config/load-config.ts'
import { readStrategyCode } from '../assembly/state/running-config.ts'
import { Failure, headlineOf } from '../lib/failure.ts'
import type { PreparedBacktest } from '../backtest/opening/prepare-backtest.ts'
import { narrow } from '../backtest/opening/priced-instruments.ts'

/**
 * Trials read files anew, so results after a change would be stored under the old files' name.
 * @returns SWEEP_FILES_CHANGED, or undefined
 */
export function findChange(
  request: ConfigRequest,
  prepared: Pick<PreparedBacktest, 'config' | 'code' | 'coverage'>,
): Failure | undefined {
  const found = describeChange(request, prepared)
  if (found === undefined) return undefined
  return new Failure({
    code: 'SWEEP_FILES_CHANGED',
    sentence: 'files of the sweep were changed while it ran',
    facts: { found },
    hint: 'repeat the command: it begins with the files as they are now, or continues if they are changed back',
  })
}

function describeChange(
  request: ConfigRequest,
  { config, code, coverage }: Pick<PreparedBacktest, 'config' | 'code' | 'coverage'>,
): string | undefined {
  let now: DaemonConfig
  try {
    now = narrow(loadConfig(request).config, coverage)
  } catch (error) {
    return headlineOf(error)
  }
  if (!isDeepStrictEqual(now, config)) return 'another configuration'
  const changed = now.strategies.find(
    ({ id, moduleFile }) =>
      code[id] !== undefined && !isDeepStrictEqual(readStrategyCode(moduleFile), code[id]),
  )
  return changed === undefined ? undefined : `other code of ${changed.id}`
}
