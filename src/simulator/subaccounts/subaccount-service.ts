import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef, type AccountSetup } from '../core/account.ts'
import { accept, refuse, type Refusal, type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { type PlacedCodec } from '../store/stored-rows.ts'

export interface SubaccountSettings {
  /** Sub-accounts that one account may have. The document names a limit and not its size. */
  readonly subaccountsMax: number
}

export const defaultSubaccountSettings: SubaccountSettings = { subaccountsMax: 20 }

/** A virtual sub-account, as the service keeps it. */
export interface Subaccount {
  /** Digits, unique over all accounts. */
  readonly uid: string
  /** Whose it is. */
  readonly parentUid: string
  readonly alias: string
  /** Unix ms. */
  readonly createdAt: number
}

/** Virtual sub-accounts. They can be created, and that is all that the document lets one do with them. */
export class SubaccountService implements AccountService {
  readonly #ports: ServicePorts
  readonly #settings: SubaccountSettings
  readonly #accounts: ReadonlyMap<string, AccountSetup>
  /** By alias in lower case, over all accounts. Bounded by `subaccountsMax` an account. */
  readonly #byAlias = new Map<string, Subaccount>()

  constructor(ports: ServicePorts, settings: SubaccountSettings = defaultSubaccountSettings) {
    this.#ports = ports
    this.#settings = settings
    this.#accounts = new Map(ports.accounts.map((account) => [account.uid, account]))
    ports.rows.restore(SUBACCOUNTS, this.#byAlias)
  }

  /**
   * Document: POST /api/v2/user/create-virtual-subaccount. An alias that exists (in whatever letters), or that
   * is beyond the limit, is put in the failure list, and the others are created.
   */
  createVirtualSubaccounts(
    { uid }: AccountRef,
    { subAccountList }: WireRequestOf<'createVirtualSubaccounts'>,
    now: number,
  ): Reply<WireResponseOf<'createVirtualSubaccounts'>> {
    if (!this.#accounts.get(uid)?.boundToIps?.length) return refuse(KEY_NOT_BOUND)
    const created: Subaccount[] = []
    const failed: string[] = []
    for (const alias of subAccountList) {
      const subaccount = this.#create(uid, alias, now)
      if (subaccount === undefined) failed.push(alias)
      else created.push(subaccount)
    }
    return accept({
      successList: created.map(toWireSubaccount),
      failureList: failed.map((alias) => ({ subaAccountName: alias })),
    })
  }

  /** The account's sub-accounts, oldest first. */
  ledger(uid: string): readonly Subaccount[] {
    return [...this.#byAlias.values()]
      .filter(({ parentUid }) => parentUid === uid)
      .sort((a, b) => (a.uid < b.uid ? -1 : 1))
  }

  #create(parentUid: string, alias: string, now: number): Subaccount | undefined {
    const key = alias.toLowerCase()
    if (this.#byAlias.has(key) || this.ledger(parentUid).length >= this.#settings.subaccountsMax)
      return undefined
    const subaccount = { uid: subaccountUid(this.#ports.sequence.next()), parentUid, alias, createdAt: now }
    this.#byAlias.set(key, subaccount)
    this.#ports.rows.put(SUBACCOUNTS, subaccount)
    return subaccount
  }
}

const SUBACCOUNTS: PlacedCodec<Map<string, Subaccount>, Subaccount> = {
  table: 'subaccounts',
  id: ({ alias }) => alias.toLowerCase(),
  place: (byAlias, row) => byAlias.set(row.alias.toLowerCase(), row),
}

/** The key must be bound to an address. Code and message as in the real exchange's table. */
const KEY_NOT_BOUND: Refusal = { code: '22010', message: 'Please bind ip whitelist address' }

/** Ten digits, as the real exchange's are; accounts of the simulator have fewer. */
function subaccountUid(sequence: number): string {
  return `7${String(sequence).padStart(9, '0')}`
}

/** Document: Virtual sub-account. `suba…` is how it is spelled there; a new one is `normal`. */
function toWireSubaccount({ uid, alias, createdAt }: Subaccount) {
  return {
    subaAccountUid: uid,
    subaAccountName: alias,
    status: 'normal',
    permList: ['contract_trade', 'spot_trade'],
    label: '',
    cTime: String(createdAt),
    uTime: String(createdAt),
  }
}
