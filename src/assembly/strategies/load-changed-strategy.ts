import { loadStrategyFile } from '../../config/load-config.ts'
import { ConfigError } from '../../config/yaml/problem.ts'
import { toStrategyId } from '../../domain/ids.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { Failure } from '../../lib/failure.ts'
import { type LoadedStrategy, readStrategy } from './strategies.ts'

/**
 * Replaces the recorded one with its id. @throws ConfigError for an invalid file; Failure if the
 * recording has nothing for it
 */
export async function loadChangedStrategy(
  file: { readonly file: string; readonly cwd: string },
  { strategies, instruments, positionMode }: EngineSettings,
): Promise<LoadedStrategy> {
  const { strategy, document: source } = loadStrategyFile(file)
  const recorded = strategies.get(toStrategyId(strategy.id))
  if (!recorded) {
    throw new Failure({
      code: 'REPLAY_STRATEGY_UNKNOWN',
      sentence: 'no strategy of this id was recorded',
      facts: { file: file.file, id: strategy.id, recorded: [...strategies.keys()].join(' ') },
      hint: 'give the changed file the id of the strategy that it is to be compared with',
    })
  }
  const unseen = strategy.instruments.filter((symbol) => !recorded.symbols.includes(symbol))
  if (unseen.length > 0) {
    throw new Failure({
      code: 'REPLAY_INSTRUMENT_UNSEEN',
      sentence: 'the recorded strategy was not shown these instruments',
      facts: {
        file: file.file,
        instruments: unseen.join(' '),
        recorded: recorded.symbols.join(' '),
      },
    })
  }
  const loaded = await readStrategy(strategy, { source, positionMode, instruments })
  if ('problems' in loaded) throw new ConfigError(loaded.problems)
  return loaded
}
