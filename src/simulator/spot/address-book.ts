import { createRandom, type Random } from '../../lib/random.ts'
import { type Codec } from '../store/stored-rows.ts'
import { COINS, isSameName } from './coins.ts'
import { type BookAddress, type SpotState } from './spot-state.ts'

/** How other accounts name an account in internal transfers. */
export interface AccountContact {
  readonly uid: string
  readonly email: string
  /** Without the area code. */
  readonly mobile: string
  readonly areaCode: string
}

interface AddressRow {
  readonly uid: string
  readonly addresses: readonly BookAddress[]
}

const ADDRESSES: Codec<AddressRow> = { table: 'addresses', id: ({ uid }) => uid }

export function restoreAddresses({ ports, addresses }: SpotState): void {
  for (const row of ports.rows.read(ADDRESSES)) addresses.set(row.uid, row.addresses)
}

/** The account's address book. It begins with one address a coin and chain, which follows from the account's UID. */
export function addressesOf(state: SpotState, uid: string): readonly BookAddress[] {
  return [...firstAddresses(uid), ...(state.addresses.get(uid) ?? [])]
}

export function hasAddress(state: SpotState, uid: string, sought: BookAddress): boolean {
  return addressesOf(state, uid).some(
    ({ coin, chain, address, tag }) =>
      address === sought.address &&
      tag === sought.tag &&
      isSameName(coin, sought.coin) &&
      isSameName(chain, sought.chain),
  )
}

/** @throws RangeError when the book is full. */
export function addAddress(state: SpotState, uid: string, address: BookAddress): void {
  const { ports, settings } = state
  if (hasAddress(state, uid, address)) return
  if (addressesOf(state, uid).length >= settings.addressesMax) {
    throw new RangeError(`an address book holds at most ${settings.addressesMax} addresses`)
  }
  const addresses = [...(state.addresses.get(uid) ?? []), address]
  state.addresses.set(uid, addresses)
  ports.rows.put(ADDRESSES, { uid, addresses })
}

/** How the accounts of the exchange can be reached: derived from their UIDs, the same at every start. */
export function contactOf(uid: string): AccountContact {
  return { uid, email: `${uid}@mail.example`, mobile: uid.padStart(11, '0').slice(-11), areaCode: '1' }
}

/** The same under every seed, so that a help text can name one. */
function firstAddresses(uid: string): BookAddress[] {
  return COINS.flatMap(({ coin, chains }) =>
    chains.map(({ chain }) => {
      const random = createRandom(`address-book/${uid}/${coin}/${chain}`)
      return { coin, chain, address: drawAddress(random, chain), tag: '' }
    }),
  )
}

const HEX = '0123456789abcdef'
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Looks like an address of its chain, and is none that anybody holds a key of. */
function drawAddress(random: Random, chain: string): string {
  if (chain === 'ERC20') return `0x${drawText(random, HEX, 40)}`
  return (chain === 'TRC20' ? 'T' : '1') + drawText(random, BASE58, 33)
}

function drawText(random: Random, letters: string, length: number): string {
  let text = ''
  while (text.length < length) text += letters[random.integer(letters.length)] ?? ''
  return text
}
