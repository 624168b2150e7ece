import {
  type ContractsAnswer,
  findKnownContracts,
  simulatedContracts,
} from '../../config/known-contracts.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { buildInstrument, type Instrument } from '../../domain/instrument.ts'

/**
 * The instrument on which a strategy's code is tried if a rule chooses all of its instruments: a
 * contract that the rule includes, else any that is known.
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
