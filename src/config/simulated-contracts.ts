/** A test compares these with the embedded simulator's. */
import type { ContractRules } from '../domain/contract-rules.ts'

const BTC: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  leverageMax: 125,
}
const ETH: ContractRules = {
  tickSize: '0.01',
  lotSize: '0.01',
  minSize: '0.01',
  minNotional: '5',
  leverageMax: 100,
}

const SIMULATED: Readonly<Record<string, Readonly<Record<string, ContractRules>>>> = {
  'USDT-FUTURES': { BTCUSDT: BTC, ETHUSDT: ETH },
  'COIN-FUTURES': { BTCUSD: BTC },
  'USDC-FUTURES': { BTCPERP: BTC },
  'SUSDT-FUTURES': { SBTCSUSDT: BTC },
  'SCOIN-FUTURES': { SBTCSUSD: BTC },
  'SUSDC-FUTURES': { SBTCSPERP: BTC },
}

export function simulatedContracts(productType: string): ReadonlyMap<string, ContractRules> {
  return new Map(Object.entries(SIMULATED[productType] ?? {}))
}
