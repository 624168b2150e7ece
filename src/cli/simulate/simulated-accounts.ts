import type { SimulatorFile } from '../../config/schema/simulator-schema.ts'
import { sha256 } from '../../lib/digest.ts'
import type { AccountRequest } from '../../simulator/start-simulator.ts'

const FIRST_UID = 1_000_001

/**
 * The accounts of the simulated exchange. Their credentials follow from the seed and the account's name, so
 * that they are the same at every start and a daemon can be pointed at them: whoever knows the configuration
 * knows them. It is play money.
 */
export function buildAccounts({ seed, accounts }: SimulatorFile): readonly AccountRequest[] {
  return accounts.map(
    (
      {
        name,
        positionMode,
        marginCoin,
        startingBalance,
        leverage,
        role,
        boundToIps,
        boundAt,
        gateway,
      },
      index,
    ) => ({
      uid: String(FIRST_UID + index),
      label: name,
      key: `sim_${derive('key', { seed, name }).slice(0, 32)}`,
      secret: derive('secret', { seed, name }),
      passphrase: derive('passphrase', { seed, name }).slice(0, 16),
      positionMode,
      balances: { [marginCoin]: startingBalance },
      leverage,
      role,
      ...(boundToIps && { boundToIps }),
      ...(boundAt && { boundAt: Date.parse(boundAt) }),
      ...(gateway && {
        gateway: {
          key: `gateway_${derive('gateway key', { seed, name }).slice(0, 32)}`,
          secret: derive('gateway secret', { seed, name }),
          isWhitelisted: gateway.isWhitelisted,
        },
      }),
    }),
  )
}

function derive(
  what: string,
  { seed, name }: { readonly seed: number; readonly name: string },
): string {
  return sha256(['simulated account', what, String(seed), name]).toString('hex')
}
