import type { WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import type { AccountRef } from '../shared/account.ts'
import { refusals } from '../shared/refusals.ts'
import { accept, type Reply } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import type { PlacedCodec } from '../store/stored-rows.ts'

export type SubaccountSettings = Readonly<typeof defaultSubaccountSettings>

/** The document mentions a limit without its size. */
export const defaultSubaccountSettings = { subaccountsMax: 20 }

export interface Subaccount {
  readonly uid: string
  readonly parentUid: string
  readonly alias: string
  readonly createdAt: number
}

export interface SubaccountState {
  readonly ports: ServicePorts
  readonly settings: SubaccountSettings
  readonly byAlias: Map<string, Subaccount>
}

export function openSubaccounts(
  ports: ServicePorts,
  settings: Partial<SubaccountSettings> = {},
): SubaccountState {
  const byAlias = new Map<string, Subaccount>()
  ports.rows.restore(SUBACCOUNTS, byAlias)
  return { ports, settings: { ...defaultSubaccountSettings, ...settings }, byAlias }
}

export function subaccountsOf({ byAlias }: SubaccountState, uid: string): readonly Subaccount[] {
  return [...byAlias.values()]
    .filter(({ parentUid }) => parentUid === uid)
    .sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

export const subaccountHandlers = { createVirtualSubaccounts } satisfies Handlers<SubaccountState>

function createVirtualSubaccounts(
  state: SubaccountState,
  { uid }: AccountRef,
  { subAccountList }: WireRequestOf<'createVirtualSubaccounts'>,
): Reply<WireResponseOf<'createVirtualSubaccounts'>> {
  const account = state.ports.accounts.find((other) => other.uid === uid)
  if (!account?.boundToIps?.length) return refusals.keyNotBound
  const created: Subaccount[] = []
  const failed: string[] = []
  for (const alias of subAccountList) {
    const subaccount = create(state, uid, alias)
    if (subaccount === undefined) failed.push(alias)
    else created.push(subaccount)
  }
  return accept({
    successList: created.map(toWireSubaccount),
    failureList: failed.map((alias) => ({ subaAccountName: alias })),
  })
}

function create(state: SubaccountState, parentUid: string, alias: string): Subaccount | undefined {
  const { ports, settings, byAlias } = state
  const key = alias.toLowerCase()
  if (byAlias.has(key) || subaccountsOf(state, parentUid).length >= settings.subaccountsMax)
    return undefined
  const uid = subaccountUid(ports.sequence.next())
  const subaccount = { uid, parentUid, alias, createdAt: ports.clock.now }
  byAlias.set(key, subaccount)
  ports.rows.put(SUBACCOUNTS, subaccount)
  return subaccount
}

const SUBACCOUNTS: PlacedCodec<Map<string, Subaccount>, Subaccount> = {
  table: 'subaccounts',
  id: ({ alias }) => alias.toLowerCase(),
  place: (byAlias, row) => byAlias.set(row.alias.toLowerCase(), row),
}

/** Ten digits, as at the real exchange. */
function subaccountUid(sequence: number): string {
  return `7${String(sequence).padStart(9, '0')}`
}

/** Document, Virtual sub-account: spelled `suba…`. */
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
