import {
  type ContractsAnswer,
  findKnownContracts,
  simulatedContracts,
} from '../../config/known-contracts.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { buildInstrument, type Instrument } from '../../domain/instrument.ts'

/**
 * An instrument on which to try the code of a strategy whose universe chooses all instruments: a
 * contract that the rule includes, or else any known one.
 */
export function sampleInstrument(
  config: DaemonConfig,
  answer: ContractsAnswer | undefined,
): Instrument | undefined {
  const { account, state, strategies } = config
  const { productType, marginCoin, leverage } = account
  const known = findKnownContracts(config, { answer, directory: state.directory })
  const included = strategies.flatMap(({ universe }) => universe?.include ?? [])
  const simulated = simulatedContracts(productType)
  for (const symbol of [...included, ...known.symbols, ...simulated.keys()]) {
    const rules = known.find(symbol)?.rules ?? simulated.get(symbol)
    if (rules === undefined) continue
    const frame = { productType, marginCoin, ...(leverage !== undefined && { leverage }) }
    return buildInstrument(symbol, rules, frame)
  }
  return undefined
}
