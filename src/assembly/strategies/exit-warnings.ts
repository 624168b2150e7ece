import { dirname, join } from 'node:path'
import { shownPath } from '../../config/yaml/checked-file.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { readStrategyCode } from '../state/running-config.ts'
import type { CheckedAccount } from './pace-warnings.ts'

const EXIT = /^(?!\s*(?:\/\/|\*|\/\*)).*?\b(?:takeProfitTicks|stopLossTicks)\b/

export function listExitWarnings(accounts: readonly CheckedAccount[]): readonly Problem[] {
  return [...listKeptExits(accounts), ...accounts.flatMap(listOtherStops)]
}

/** Warns if sizes by risk follow from a param, and the exit's stop is at another distance. */
function listOtherStops({
  loaded: { config, documents },
  strategies,
}: CheckedAccount): readonly Problem[] {
  return strategies.flatMap(({ id, params }) => {
    const distance = config.strategies.find((one) => one.id === id)?.exits?.stop?.distance
    if (distance === undefined) return []
    const others = Object.entries(params as object).filter(
      ([name, value]) => /stop/i.test(name) && isShare(value) && Number(value) !== distance,
    )
    return others.flatMap(([name, value]) => {
      const message = `${value}, and exits.stop.distance is ${distance}: if ${name} is the distance from which sizes are counted (market.lotsForRisk), a stop loses ${shownTimes(distance / Number(value))} of what is meant; write the same in both`
      return documents.strategies.get(id)?.problem(['params', name], message) ?? []
    })
  })
}

function isShare(value: unknown): boolean {
  const share = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return share > 0 && share < 1
}

const shownTimes = (ratio: number): string => `${Number(ratio.toPrecision(3))} times`

function listKeptExits(accounts: readonly CheckedAccount[]): readonly Problem[] {
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
