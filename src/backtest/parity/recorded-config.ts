import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type ConfigOptions,
  loadConfig,
  type LoadedConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { Failure } from '../../lib/failure.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import type { RecordedRun } from './recorded-run.ts'

const NOTHING_GIVEN = { set: [], params: [] }

/** `--set` applies only to the recorded run's own file. */
function isRepeated({ configFile }: RecordedRun, { config }: ConfigOptions): boolean {
  return configFile !== undefined && (config === undefined || resolve(config) === configFile)
}

export function describeGiven(recorded: RecordedRun, options: ConfigOptions): readonly string[] {
  if (recorded.given === undefined)
    return [
      'note: the recording does not say which --set and --param its run was given; give them again',
    ]
  const { set, params } = recorded.given
  const words = [...set.map((text) => ['--set', text]), ...params.map((text) => ['--param', text])]
  if (words.length === 0) return []
  const given = words.map(([option = '', text = '']) => `${option} ${toShellWord(text)}`).join(' ')
  return [
    isRepeated(recorded, options)
      ? `note: as in the recorded run: ${given}`
      : `note: -c names another file, so this was not repeated from the recorded run: ${given}`,
  ]
}

/**
 * The named configuration, else the recorded run's. @throws ConfigError; Failure
 * PARITY_CONFIG_OTHER if it trades something else
 */
export function loadRecordedConfig(recorded: RecordedRun, options: ConfigOptions): LoadedConfig {
  const { configFile, settings } = recorded
  const found = configFile !== undefined && existsSync(configFile) ? configFile : undefined
  const { set, params } = isRepeated(recorded, options)
    ? (recorded.given ?? NOTHING_GIVEN)
    : NOTHING_GIVEN
  const loaded = loadConfig(
    toConfigRequest({
      config: options.config ?? found,
      set: [...set, ...options.set],
      param: [...params, ...(options.param ?? [])],
    }),
  )
  const enabled = loaded.config.strategies.filter((strategy) => strategy.enabled)
  const given = describeTraded(enabled)
  const traded = describeTraded(
    [...settings.strategies.values()]
      .filter(({ isByHand }) => isByHand !== true)
      .map(({ id, symbols }) => ({ id, instruments: symbols })),
  )
  if (given === traded) return loaded
  throw new Failure({
    code: 'PARITY_CONFIG_OTHER',
    sentence: 'the configuration does not trade what the recorded run traded',
    facts: {
      recorded: traded,
      ...(configFile !== undefined && { of: configFile }),
      given,
      from: loaded.config.file,
    },
    hint: 'name the configuration of the recorded run: -c FILE, with its --set and --param',
  })
}

function describeTraded(
  strategies: readonly { readonly id: string; readonly instruments: readonly string[] }[],
): string {
  return strategies
    .map(({ id, instruments }) => `${id} (${instruments.toSorted().join(' ')})`)
    .toSorted()
    .join(', ')
}
