/** Fills of exits at the exchange may halt the instrument. */
import { dirname, join } from 'node:path'
import type { Problem } from '../../config/yaml/problem.ts'
import { shownPath } from '../../config/yaml/read-file.ts'
import { readStrategyCode } from '../state/running-config.ts'
import type { CheckedAccount } from './pace-warnings.ts'

const EXIT = /^(?!\s*(?:\/\/|\*|\/\*)).*?\b(?:takeProfitTicks|stopLossTicks)\b/

export function listExitWarnings(accounts: readonly CheckedAccount[]): readonly Problem[] {
  return accounts
    .filter(({ loaded }) => loaded.config.risk.foreignFills === 'halt')
    .flatMap(({ loaded, strategies }) =>
      strategies.flatMap(({ id, moduleFile }) => {
        const place = findSetting(loaded, id) ?? findExit(moduleFile)
        const message = `${id} has a take-profit or stop-loss that the exchange keeps: when one is filled, that is no order of the daemon, and halts the instrument; set risk.foreignFills: adopt in ${loaded.documents.main.shown} (then a fill by hand halts nothing either)`
        return place === undefined ? [] : [{ ...place, path: '', message }]
      }),
    )
}

/** `exits.stop.atExchange` of a strategy file. */
function findSetting(
  { config, documents }: CheckedAccount['loaded'],
  id: string,
): Problem | undefined {
  const entry = config.strategies.find((strategy) => strategy.id === id)
  if (entry?.exits?.stop?.atExchange !== true) return undefined
  return documents.strategies.get(id)?.problem(['exits', 'stop', 'atExchange'], '')
}

function findExit(moduleFile: string): Pick<Problem, 'source' | 'line' | 'column'> | undefined {
  for (const { name, text } of readStrategyCode(moduleFile).files) {
    const lines = text.split('\n')
    const index = lines.findIndex((line) => EXIT.test(line))
    if (index < 0) continue
    const source = shownPath(join(dirname(moduleFile), name), process.cwd())
    const column = (lines[index] ?? '').search(/takeProfitTicks|stopLossTicks/) + 1
    return { source, line: index + 1, column }
  }
  return undefined
}
